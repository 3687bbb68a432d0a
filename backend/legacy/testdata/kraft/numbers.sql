-- Kraft's program numbers the positions of a document by itself, and keeps no number from
-- being left out.
CREATE TRIGGER frontdesk_position BEFORE INSERT ON docposition FOR EACH ROW
	SET NEW.ordNumber = IF(NEW.ordNumber = 0, (SELECT COALESCE(MAX(p.ordNumber), 0) + 1 FROM docposition p WHERE p.docID = NEW.docID), NEW.ordNumber);
