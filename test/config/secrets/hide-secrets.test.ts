import { expect, test } from 'vitest';
import { hideSecrets } from '../../../src/config/secrets/hide-secrets.ts';

const visible = new Map([
  ['src_url', 'url'],
  ['endpoint', 'plain'],
] as const);

test.each([
  ['src_url: "postgres://app:x\thunter2"', 'src_url: "postgres://app:***"'],
  ['src_url: "postgres://app:x hunter2"  # the source', 'src_url: "postgres://app:***"  # the source'],
  ['src_url: "postgres://app:5432 hunter2"', 'src_url: "postgres://app:***"'],
  ['src_url: "postgres://db.example.com:5432/app"', 'src_url: "postgres://db.example.com:5432/app"'],
  [
    'src_url: "postgres://app@server:hunter2@db.example.com/app"',
    'src_url: "postgres://app@server:***@db.example.com/app"',
  ],
  [
    'src_url: "postgres://@app:hunter2@db.example.com:5432/app"',
    'src_url: "postgres://@app:***@db.example.com:5432/app"',
  ],
  ['src_url: "postgres://hunter&2@db.example.com/app"', 'src_url: "postgres://***@db.example.com/app"'],
  ['src_url: "postgres://app_x.y-z@db.example.com/app"', 'src_url: "postgres://app_x.y-z@db.example.com/app"'],
  ['src_url: "postgres://app@db:5432/app" # a@b', 'src_url: "postgres://app@db:5432/app" # a@b'],
  ['endpoint: http://localhost:9000 # here', 'endpoint: http://localhost:9000 # here'],
])('a problem with %j shows %j', (line, shown) => {
  expect(hideSecrets([line], { index: 0, offset: 0, visible: new Map(visible) }).text).toBe(shown);
});
