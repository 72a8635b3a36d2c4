import { expect, test } from 'vitest';
import { configFolder } from '../../helpers/terminal/config-folder.ts';

/** Where somebody may have put a password that the parser or the schema stumbles over. */
const CASES = [
  ['begins with a star', 'authtoken: *hunter2\n'],
  ['begins with an exclamation mark', 'authtoken: !hunter2 x\n'],
  ['begins with a greater-than sign', 'authtoken: >hunter2\n'],
  ['stands behind a quoted value', 'authtoken: "a" hunter2\n'],
  ['stands behind a closing brace', '{authtoken: a}} hunter2\n'],
  ['is a list', 'authtoken: [hunter2]\n'],
  ['is a map', 'override: {dst_db_url: {x: hunter2}}\n'],
  ['is in a URL of no engine', 'override: {dst_db_url: "db://u:hunter2@h/d"}\n'],
  ['is too short a key', 'secret_key: hunter2\n'],
] as const;

test.for(CASES)('a secret that %s is a problem that does not repeat it', async ([, content]) => {
  const folder = await configFolder({ 'tool.yml': content });
  const { problems, configuration } = await folder.inspect();
  expect(configuration).toBeNull();
  expect(problems.filter(({ code }) => code !== 'missing_key')).not.toEqual([]);
  expect(JSON.stringify(problems)).not.toContain('hunter2');
});
