import { expect, test } from 'vitest';
import { storedRows } from '../../../../src/engines/shared/rows/stored-rows.ts';

test('rows of COPY and LOAD DATA are read with their escapes, up to the terminator', () => {
  const text = ['1\tit\\ts\\\\ \\n', '2\t\\N', 'too\tmany\tfields', '', '\\.', '3\tafter', ''].join('\n');
  expect(storedRows(text, ['ID', 'name'])).toEqual([
    { id: '1', name: 'it\ts\\ \n' },
    { id: '2', name: null },
  ]);
  expect(storedRows('', ['id'])).toEqual([{ id: '' }]);
});

test('rows of INSERT statements are read with their own columns, as far as they are understood', () => {
  const text = [
    "INSERT INTO `a``b` (`id`, `na``me`, `c`) VALUES (1,'it''s\\n; (x),',NULL),\n(-2.5,_binary 'a\\'b',0x6869);",
    'INSERT INTO `t` (`id`) VALUES (7),(now());',
    'INSERT INTO `t` (`id`, `x`) VALUES (8);',
    '-- tool: end of rows\n',
  ].join('\n');
  expect(storedRows(text, [])).toEqual([
    { id: '1', 'na`me': "it's\n; (x),", c: null },
    { id: '-2.5', 'na`me': "a'b", c: 'hi' },
    { id: '7' },
  ]);
});
