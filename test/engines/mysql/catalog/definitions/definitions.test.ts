import { expect, it } from 'vitest';
import {
  splitTable,
  withIndexes,
  withoutDatabase,
  withoutDefiner,
} from '../../../../../src/engines/mysql/catalog/definitions/statement-text.ts';

it('makes indexes and foreign keys after the rows, and columns, primary key and checks before', () => {
  const table = splitTable(
    't',
    [
      'CREATE TABLE `t` (',
      '  `id` int NOT NULL AUTO_INCREMENT,',
      "  `note` text COMMENT 'KEY `x` (`y`),',",
      '  PRIMARY KEY (`id`),',
      '  UNIQUE KEY `u` (`note`(10)),',
      '  KEY `k` (`id`),',
      '  FULLTEXT KEY `f` (`note`),',
      '  FULLTEXT KEY `g` (`note`),',
      '  CONSTRAINT `r` FOREIGN KEY (`id`) REFERENCES `p` (`id`),',
      '  CONSTRAINT `c` CHECK (`id` > 0)',
      ') ENGINE=InnoDB AUTO_INCREMENT=5',
    ].join('\n'),
  );
  expect(table).toEqual({
    name: 't',
    create: [
      'CREATE TABLE `t` (',
      '  `id` int NOT NULL AUTO_INCREMENT,',
      "  `note` text COMMENT 'KEY `x` (`y`),',",
      '  PRIMARY KEY (`id`),',
      '  CONSTRAINT `c` CHECK (`id` > 0)',
      ') ENGINE=InnoDB AUTO_INCREMENT=5',
    ].join('\n'),
    indexes: [
      ['UNIQUE KEY `u` (`note`(10))', 'KEY `k` (`id`)'],
      ['FULLTEXT KEY `f` (`note`)'],
      ['FULLTEXT KEY `g` (`note`)'],
    ],
    foreignKeys: ['CONSTRAINT `r` FOREIGN KEY (`id`) REFERENCES `p` (`id`)'],
  });
});

it('leaves the key of an AUTO_INCREMENT column where it is, without which the table could not be made', () => {
  const create =
    'CREATE TABLE `t` (\n  `a` int NOT NULL,\n  `id` int NOT NULL AUTO_INCREMENT,\n  PRIMARY KEY (`a`),\n  KEY `id` (`id`)\n) ENGINE=InnoDB';
  expect(splitTable('t', create)).toEqual({ name: 't', create, indexes: [], foreignKeys: [] });
});

it('puts the indexes back into a table of few rows or none', () => {
  const end = ") ENGINE=InnoDB COMMENT='KEY'\n/*!50100 PARTITION BY HASH (`id`)\nPARTITIONS 2 */";
  const head = 'CREATE TABLE `t` (\n  `id` int NOT NULL,\n  PRIMARY KEY (`id`)';
  const create = `${head},\n  KEY \`k\` (\`id\`),\n  FULLTEXT KEY \`f\` (\`id\`)\n${end}`;
  const table = splitTable('t', create);
  expect(table.indexes).toHaveLength(2);
  expect(withIndexes(table)).toEqual({ name: 't', create, indexes: [], foreignKeys: [] });
});

it('takes the name of the database out of a definition, but not out of its texts', () => {
  const sql = "CREATE VIEW `app`.`v` AS SELECT '`app`.x', `app`.`t`.`app` AS `app` FROM `app`.`t` JOIN `other`.`t`";
  expect(withoutDatabase(sql, 'app')).toBe(
    "CREATE VIEW `v` AS SELECT '`app`.x', `t`.`app` AS `app` FROM `t` JOIN `other`.`t`",
  );
});

it('takes the definer out of the head of a definition, and nothing out of its body', () => {
  const heads = [
    ['CREATE DEFINER=`a b`@`%` PROCEDURE `p`() SELECT 1', 'CREATE PROCEDURE `p`() SELECT 1'],
    [
      'CREATE ALGORITHM=UNDEFINED DEFINER=`r`@`localhost` SQL SECURITY DEFINER VIEW `v` AS SELECT 1',
      'CREATE ALGORITHM=UNDEFINED SQL SECURITY DEFINER VIEW `v` AS SELECT 1',
    ],
    [
      'CREATE DEFINER=root@localhost TRIGGER t BEFORE INSERT ON x FOR EACH ROW SET @a = 1',
      'CREATE TRIGGER t BEFORE INSERT ON x FOR EACH ROW SET @a = 1',
    ],
    [
      "CREATE FUNCTION `f`() RETURNS int RETURN ' DEFINER=`a`@`b`'",
      "CREATE FUNCTION `f`() RETURNS int RETURN ' DEFINER=`a`@`b`'",
    ],
  ];
  for (const [before, after] of heads) expect(withoutDefiner(before ?? '')).toBe(after);
});

it('leaves a table alone that is called as its database is', () => {
  const view =
    'CREATE VIEW `v` AS select `app`.`id` AS `id`,`app`.`f`(1) AS `f` from (`app` join `app`.`t` on(`app`.`id` = `t`.`id`))';
  expect(withoutDatabase(view, 'app')).toBe(
    'CREATE VIEW `v` AS select `app`.`id` AS `id`,`f`(1) AS `f` from (`app` join `t` on(`app`.`id` = `t`.`id`))',
  );
  expect(withoutDatabase('select `app`.`app`.`id`, `other`.`app`.`id` from `app`.`app`', 'app')).toBe(
    'select `app`.`id`, `other`.`app`.`id` from `app`',
  );
});
