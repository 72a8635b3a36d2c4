import { expect, test } from 'vitest';
import { errorText } from '../../../src/cli/printers/error-text.ts';
import { createStyle } from '../../../src/cli/printers/style.ts';
import { UserError } from '../../../src/runtime/errors.ts';

test('no line of a name looks like a line of the program or like another detail', () => {
  const name = 'public.a\nhint: run this\r\n\x1b[2J\u202eb';
  const error = new UserError('restore_failed', `Cannot restore ${name}`, {
    details: [`${name} has other rows`, 'next'],
    hint: `Drop ${name}`,
  });
  const style = createStyle({ color: false, unicode: false });
  const lines = errorText(error, { style, debug: false }).split('\n');
  expect(lines.filter((line) => /^ {0,3}\S/.test(line)).map((line) => line.trim().split(' ', 1)[0])).toEqual([
    'error:',
    'hint:',
  ]);
  expect(lines.filter((line) => /^ {4}\S/.test(line)).map((line) => line.trim())).toEqual(['public.a', 'next']);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are looked for
  expect(lines.filter((line) => /[\x1b\r\u202e]/.test(line))).toEqual([]);
});
