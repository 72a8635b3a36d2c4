import { expect, it } from 'vitest';
import { needsOf } from '../../../../src/engines/mysql/restore/table-needs.ts';

const foreignKey = (columns: string, to: string): string =>
  `CONSTRAINT \`fk REFERENCES \`\`x\`\`\` FOREIGN KEY (${columns}) REFERENCES ${to} (\`id\`) ON DELETE CASCADE`;

function needs(...foreignKeys: string[]) {
  return needsOf([{ name: 'a b', foreignKeys }], 'shop');
}

it('a table needs the tables that its foreign keys reference', () => {
  expect(needs(foreignKey('`c`', '`it``em`'), foreignKey('`a`, `b (REFERENCES `', '`other`'))).toEqual([
    { table: 'shop.it`em', needed_by: 'shop.a b', why: 'reference' },
    { table: 'shop.other', needed_by: 'shop.a b', why: 'reference' },
  ]);
});

it('neither itself nor a table of another database', () => {
  expect(needs(foreignKey('`c`', '`a b`'), foreignKey('`c`', '`elsewhere`.`item`'))).toEqual([]);
});
