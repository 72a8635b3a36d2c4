import type { ReplacementDialect } from '../../../sanitize/replacements.ts';
import { quoteText } from '../connection/quote.ts';

const TEXT = 'LONGTEXT CHARACTER SET utf8mb4';

/** Functions of the expressions; the query drops them at its end. `%`: the salt. */
export const FUNCTIONS = `-- The replacement of a value: 32 hexadecimal digits, always the same for the same value.
DELIMITER //
CREATE FUNCTION tool_hash(value ${TEXT}) RETURNS VARCHAR(32) CHARACTER SET utf8mb4 DETERMINISTIC NO SQL
  RETURN LEFT(SHA2(CONCAT(%, value), 256), 32)//

-- A number below a limit, always the same for the same value.
CREATE FUNCTION tool_number(value ${TEXT}, below BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
  RETURN CAST(CONV(LEFT(tool_hash(value), 15), 16, 10) AS UNSIGNED) % below//

-- The text in other letters and digits, made of a key: a letter for a letter, a digit for a digit, never the same one.
CREATE FUNCTION tool_scramble(value ${TEXT}, made_of ${TEXT}) RETURNS ${TEXT} DETERMINISTIC NO SQL
BEGIN
  DECLARE scrambled ${TEXT} DEFAULT IF(value IS NULL, NULL, '');
  DECLARE place INT DEFAULT 1;
  DECLARE letter BIGINT;
  WHILE place <= CHAR_LENGTH(value) DO
    SET letter = ORD(SUBSTR(value, place, 1));
    SET scrambled = CONCAT(scrambled, CASE
      WHEN letter BETWEEN 48 AND 57 THEN CHAR(48 + (letter - 47 + tool_number(CONCAT(made_of, place), 9)) % 10 USING utf8mb4)
      WHEN letter BETWEEN 65 AND 90 THEN CHAR(65 + (letter - 64 + tool_number(CONCAT(made_of, place), 25)) % 26 USING utf8mb4)
      WHEN letter BETWEEN 97 AND 122 THEN CHAR(97 + (letter - 96 + tool_number(CONCAT(made_of, place), 25)) % 26 USING utf8mb4)
      WHEN letter > 127 THEN CHAR(97 + tool_number(CONCAT(made_of, place), 26) USING utf8mb4)
      ELSE SUBSTR(value, place, 1) END);
    SET place = place + 1;
  END WHILE;
  RETURN scrambled;
END//
DELIMITER ;`;

export const DROP_FUNCTIONS = ['tool_scramble', 'tool_number', 'tool_hash'].map((name) => `DROP FUNCTION ${name};`);

export const DIALECT: ReplacementDialect = {
  quoteText,
  concat: (...parts) => (parts.length === 1 ? String(parts[0]) : `concat(${parts.join(', ')})`),
  hash: (key) => `tool_hash(${key})`,
  number: (key, below) => `tool_number(${key}, ${below})`,
  digits: (key) => `lpad(tool_number(${key}, 1000000000000000), 15, '0')`,
  scramble: (text, key) => `tool_scramble(${text}, ${key})`,
  otherDay: ({ name, key }) => `makedate(year(${name}), 1 + (dayofyear(${name}) + tool_number(${key}, 364)) % 365)`,
  rounded: (name) => `round(${name})`,
  ipAddress: ({ key, facts: { type } }) =>
    type === 'inet6'
      ? `concat('fd00::', left(tool_hash(${key}), 4), ':', substr(tool_hash(${key}), 5, 4))`
      : `inet_ntoa(167772160 + tool_number(${key}, 16777216))`,
  hardwareAddress: ({ key }) => `concat('02', left(tool_hash(${key}), 10))`,
  emptyDocument: () => "'{}'",
  converted: (expression) => expression,
};
