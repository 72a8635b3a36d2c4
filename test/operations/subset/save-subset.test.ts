import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { saveSubset } from '../../../src/operations/subset/save-subset.ts';
import { openContext } from '../../../src/runtime/context.ts';
import { configFolder, SECRET_KEY } from '../../helpers/terminal/config-folder.ts';

const FILE = `secret_key: "${SECRET_KEY}"
targets:
  app:
    subset:
      src_url: postgres://localhost/app
      dst_url: postgres://localhost/app_small
      subset_tables:
        - {table: public.customer, percent: 5} # one in twenty
        - table: public.shop
          where: id < 10
      copy_tables:
        # small, and needed by every form
        - public.country
        - public.currency
`;

async function saved(choices: Parameters<typeof saveSubset>[1]['choices']): Promise<string> {
  const { path } = await configFolder({ 'tool.yml': FILE });
  const context = await openContext({
    environment: { TOOL_TRUST: 'true', HOME: path },
    cwd: path,
    signal: new AbortController().signal,
    clock: () => new Date(),
    report: () => {},
  });
  expect(await saveSubset(context, { target: 'app', choices })).toEqual({ file: join(path, 'tool.yml') });
  return readFile(join(path, 'tool.yml'), 'utf8');
}

const subset_tables = [
  { table: 'public.customer', percent: 5 },
  { table: 'public.shop', where: 'id < 10' },
];

test('nothing that was chosen anew changes no byte', async () => {
  expect(await saved({ subset_tables, copy_tables: ['public.country', 'public.currency'], excluded_tables: [] })).toBe(
    FILE,
  );
});

test('a share, a table more and a table less are changed where they stand, and comments stay', async () => {
  const text = await saved({
    subset_tables: [{ table: 'public.customer', percent: 10 }, ...subset_tables.slice(1)],
    copy_tables: ['public.country', 'public.unit'],
    excluded_tables: ['public.log'],
  });
  expect(
    text,
  ).toBe(`${FILE.replace('percent: 5', 'percent: 10').replace('public.currency', 'public.unit')}      excluded_tables: [public.log]
`);
});
