import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { proposedSubsetUrl } from '../../../src/config/urls/proposed-url.ts';
import { draftSubset, saveSubset } from '../../../src/operations/subset/save-subset.ts';
import { createContext } from '../../../src/runtime/context.ts';
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
  const context = await createContext({
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

test('a save without changes leaves every byte', async () => {
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

const WITHOUT = `secret_key: "${SECRET_KEY}"
targets:
  app: # ours
    snapshot:
      src_url: "postgres://app:{{\`APP_PASSWORD\` | env}}@db.example.com/app"
      dst_url: postgres://me:$aes$00ff@localhost:5433/app_dev?sslmode=disable
# the end
`;

const suggested = {
  subset_tables: [{ table: 'public.customer', percent: 5 }],
  copy_tables: ['public.country'],
  excluded_tables: ['public.log', 'public.Log 2'],
};

test('a suggestion is a draft of the file: the databases as the file has them, nothing written', async () => {
  const { path } = await configFolder({ 'tool.yml': WITHOUT });
  const request = { environment: { TOOL_TRUST: 'true', HOME: path }, cwd: path };
  const draft = await draftSubset(request, { target: 'app', choices: suggested });
  expect(draft.text).toBe(
    WITHOUT.replace(
      '# the end',
      `    subset:
      src_url: "postgres://app:{{\`APP_PASSWORD\` | env}}@db.example.com/app"
      dst_url: postgres://me:$aes$00ff@localhost:5433/app_subset?sslmode=disable
      subset_tables:
        - table: public.customer
          percent: 5
      copy_tables: [public.country]
      excluded_tables:
        - public.log
        - "public.Log 2"
# the end`,
    ),
  );
  expect(await readFile(join(path, 'tool.yml'), 'utf8')).toBe(WITHOUT);
  await expect(draftSubset(request, { target: 'other', choices: suggested })).rejects.toMatchObject({
    code: 'no_configuration',
  });
});

test.each([
  ['postgres://u:p@db/shop', undefined, 'postgres://u@localhost/shop_subset'],
  ['postgres://u:p@localhost:5433/shop?a=b', undefined, 'postgres://u:p@localhost:5433/shop_subset?a=b'],
  ['postgres://u:p@db/shop', 'postgres://v@dev/anything', 'postgres://v@dev/shop_subset'],
  ['mysql://db/shop', 'mysql://dev/shop_subset', 'mysql://dev/shop_subset_subset'],
  ['postgres://db/shop', '{{`URL` | env}}', null],
  ['{{`URL` | env}}', undefined, null],
  ['postgres:///shop?host=prod', undefined, 'postgres://localhost/shop_subset'],
  ['postgres://localhost/shop?hostaddr=10.0.0.1', undefined, 'postgres://localhost/shop_subset'],
  ['postgres://localhost/shop?service=prod', undefined, 'postgres://localhost/shop_subset'],
  ['postgres:///shop?host=/run/pg', undefined, 'postgres:///shop_subset?host=/run/pg'],
  ['postgres://db/shop', 'postgres://dev/x?dbname=shop_dev', null],
  ['postgres://localhost/x?dbname=shop', undefined, null],
  ['postgres://db/shop', 'postgres://dev/shop%5Fsubset', 'postgres://dev/shop_subset_subset'],
])('the subset of %s beside %s is %s', (source, destination, proposed) => {
  expect(proposedSubsetUrl(source, destination)).toBe(proposed);
});
