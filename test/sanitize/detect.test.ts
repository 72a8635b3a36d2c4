import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parsePostgresUrl } from '../../src/engines/postgres/connection/url.ts';
import { readColumns } from '../../src/engines/postgres/sanitize/columns.ts';
import { columnName } from '../../src/sanitize/column-facts.ts';
import { detectPersonalData } from '../../src/sanitize/detector/detect.ts';
import { describeWithPostgres, startPostgres, testContext } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

const SHOP = new URL('../../assets/demo/shop.sql', import.meta.url).pathname;
const SHOP_LABELS = new URL('../../assets/demo/personal-data.json', import.meta.url).pathname;
const SECOND = new URL('labelled-schema.sql', import.meta.url).pathname;

describeWithPostgres('the detector of personal data', () => {
  const server = suiteResource(() => startPostgres());

  async function found(name: string, file: string): Promise<{ all: number; suspects: Record<string, string> }> {
    await server.createDatabase(name);
    await server.psql(name, { file });
    const schemas = await server.psql(name, {
      sql: "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_|^information'",
    });
    const manifest = { schemas: schemas.trim().split('\n') } as Parameters<typeof readColumns>[1]['manifest'];
    const url = parsePostgresUrl(server.url(name));
    const columns = await readColumns(testContext({ settings: {} }), { url, manifest });
    const suspects = detectPersonalData(columns).map(({ facts, kind }) => [columnName(facts), kind]);
    return { all: columns.length, suspects: Object.fromEntries(suspects) };
  }

  it("finds at least 95 % of the demo's personal columns, and at least 80 % of what it finds are such", async () => {
    const { personal } = JSON.parse(readFileSync(SHOP_LABELS, 'utf8'));
    const { suspects } = await found('shop', SHOP);
    expectQuality(suspects, personal);
  }, 120_000);

  it('does so too on the second labelled schema, in several languages', async () => {
    const labels = readLabels(readFileSync(SECOND, 'utf8'));
    const { all, suspects } = await found('second', SECOND);
    expect(all).toBeGreaterThan(190);
    expectQuality(suspects, labels);
  });
});

function expectQuality(suspects: Record<string, string>, labels: Record<string, string>): void {
  const missed = Object.keys(labels).filter((column) => !(column in suspects));
  const wrong = Object.keys(suspects).filter((column) => !(column in labels));
  const recall = 1 - missed.length / Object.keys(labels).length;
  const precision = 1 - wrong.length / Object.keys(suspects).length;
  expect(recall, `missed: ${missed.join(', ')}`).toBeGreaterThanOrEqual(0.95);
  expect(precision, `taken wrongly: ${wrong.join(', ')}`).toBeGreaterThanOrEqual(0.8);
  const otherKind = Object.keys(suspects).filter((column) => column in labels && suspects[column] !== labels[column]);
  expect(otherKind.length, `of another kind: ${otherKind.join(', ')}`).toBeLessThanOrEqual(3);
}

/** The comments `-- personal: KIND` at the ends of the columns' lines. */
function readLabels(sql: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let table = '';
  for (const line of sql.split('\n')) {
    const created = /^CREATE TABLE ([\w.]+) /.exec(line)?.[1];
    if (created) table = created.includes('.') ? created : `public.${created}`;
    const labelled = /^\s+(\w+) .*-- personal: (\w+)$/.exec(line);
    if (labelled) labels[`${table}.${labelled[1]}`] = labelled[2] ?? '';
  }
  return labels;
}
