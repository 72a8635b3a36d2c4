import { expect, test } from 'vitest';
import { storedRows } from '../../../../src/engines/shared/rows/stored-rows.ts';

test('rows of COPY and LOAD DATA are read with their escapes, up to the terminator', () => {
  const text = ['1\tit\\ts\\\\ \\n', '2\t\\N', 'too\tmany\tfields', '', '\\.', '3\tafter', ''].join('\n');
  expect(storedRows(text, ['ID', 'name'])).toEqual([
    { id: '1', name: 'it\ts\\ \n' },
    { id: '2', name: null },
  ]);
  expect(storedRows('', ['id'])).toEqual([]);
});

test('rows of INSERT statements are read with the columns of the first one', () => {
  const head = 'INSERT INTO `a``b` (`id`, `na``me`, `c`) VALUES ';
  const text = [
    `${head}(1,'it''s\\n; (x),',NULL),\n(-2.5,_binary 'a\\'b',0x6869);`,
    `${head}(7,'0',1);`,
    `${head}(8,'too few');`,
    '-- tool: end of rows\n',
  ].join('\n');
  expect(storedRows(text, [])).toEqual([
    { id: '1', 'na`me': "it's\n; (x),", c: null },
    { id: '-2.5', 'na`me': "a'b", c: 'hi' },
    { id: '7', 'na`me': '0', c: '1' },
  ]);
});
