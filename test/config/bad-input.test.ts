import { expect, test } from 'vitest';
import type { Inspection } from '../../src/config/load.ts';
import { BAD_FILES } from '../helpers/bad-files.ts';
import { configFolder, summary, withKey } from '../helpers/terminal/config-folder.ts';

test.for(BAD_FILES)('%s is answered at once, with its place', async ([, content, expected]) => {
  const folder = await configFolder({ 'tool.yml': content });
  const { configuration, problems } = await folder.inspect();
  expect(configuration).toBeNull();
  expect(summary(problems)[0]).toContain(expected);
  expectPlaces({ problems });
});

test('a byte order mark and the line ends of Windows do no harm', async () => {
  const folder = await configFolder({ 'tool.yml': `\ufeff${withKey('debug: true\n').replaceAll('\n', '\r\n')}` });
  expect((await folder.load()).settings.debug).toBe(true);
});

/** Every problem is in the file, or names its variable. */
function expectPlaces({ problems }: Pick<Inspection, 'problems'>): void {
  for (const { line, column, message, file } of problems) {
    if (file === null) expect(message).toMatch(/TOOL_|no configuration/);
    else expect([line, column].every((place) => place !== null && place >= 1)).toBe(true);
    expect(message).not.toMatch(/undefined|\[object|call stack/);
  }
}
