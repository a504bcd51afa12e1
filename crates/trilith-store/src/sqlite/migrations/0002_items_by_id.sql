-- A request may refer to any stored item by its id. Ids are the tenant's own business, and upstreams repeat
-- theirs, so an item is looked up within its tenant alone.

ALTER TABLE item ADD COLUMN tid INTEGER REFERENCES tenant;
UPDATE item SET tid = (SELECT tid FROM segment WHERE segment.sid = item.sid);
CREATE INDEX item_name ON item (tid, item_id);
