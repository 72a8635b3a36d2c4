import { expect, it } from 'vitest';
import { alterSet } from '../../../src/engines/postgres/swap/alter-set.ts';

const database = 'shop"; DROP';

it.each([
  ['search_path="$user", public', `search_path" = '$user', 'public'`],
  ['search_path="a ""b"", c",D', `search_path" = 'a "b", c', 'd'`],
  ['search_path=', `search_path" = ''`],
  ['DateStyle=ISO, MDY', `DateStyle" = 'ISO, MDY'`],
  ["app.note=it's; DROP TABLE x", `app"."note" = 'it''s; DROP TABLE x'`],
  ['app.note=a\\b', `app"."note" = E'a\\\\b'`],
])('alterSet quotes the name and each part of the value of %s', (setting, written) => {
  expect(alterSet({ database, setting })).toBe(`ALTER DATABASE "shop""; DROP" SET "${written}`);
});

it.each([
  'search_path=public\n;\n\\! touch /tmp/executed',
  'search_path=public; DROP DATABASE production',
  'search_path="open',
  'search_path=a,,b',
  'search_path=a,',
  'work_mem" = 1; DROP DATABASE production; --=1',
  'work_mem\n=1',
  'work_mem=1\r\n',
  'work_mem=1\u009b2J',
  '=1',
  'work_mem',
  'a..b=1',
  '1a=1',
])('alterSet refuses %j', (setting) => {
  expect(() => alterSet({ database, setting })).toThrow(expect.objectContaining({ code: 'content_refused', exit: 5 }));
});
