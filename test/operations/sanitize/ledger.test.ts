import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { checkLedger } from '../../../src/operations/sanitize/ledger/check.ts';
import { classify } from '../../../src/operations/sanitize/ledger/classify.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { MASK, startSanitizeFixture } from '../../helpers/databases/sanitize-fixture.ts';
import { describeWithPostgres } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

describeWithPostgres('the ledger of a target of PostgreSQL', () => {
  const fixture = suiteResource(startSanitizeFixture);

  beforeEach(() => fixture.reset());

  const folder = (): string => join(fixture.directory(), '..', `repository-${process.pid}`);
  const ledger = (): string => join(folder(), 'sanitize.lock.yml');

  async function contextOf(query = MASK, change = {}): Promise<Context> {
    await mkdir(folder(), { recursive: true });
    await writeFile(join(folder(), 'query.sql'), query);
    const file = { override_query: undefined, query_file: join(folder(), 'query.sql') };
    return fixture.contextOf({ sanitize: { ...file, require_classified: true, ...change } });
  }

  beforeEach(() => rm(folder(), { recursive: true, force: true }));

  /** Classifies all that the first ledger leaves open. */
  async function keepTheRest(context: Context): Promise<void> {
    await classify(context, { target: 'app' });
    const text = await readFile(ledger(), 'utf8');
    await writeFile(ledger(), text.replaceAll(/: open$/gm, ': { kept: no personal data }'));
  }

  it('begins with the query, the detector and the empty tables, and leaves the rest open', async () => {
    const context = await contextOf();
    const result = await classify(context, { target: 'app' });
    expect(await readFile(ledger(), 'utf8')).toMatchInlineSnapshot(`
      "# What the sanitized snapshot does with each column: tool sanitize classify TARGET. docs/sanitize.md, "The ledger"

      version: 1
      targets:
        app:
          public.audit.id: excluded
          public.audit.old_email: excluded
          public.city.id: open
          public.city.title: open
          public.login_log.at: excluded
          public.login_log.client_ip: excluded
          public.person.email: changed
          public.person.first_name: changed
          public.person.id: open
          public.person.note: open
      "
    `);
    expect(result.open.map(({ name }) => name)).toContain('public.person.note');
  });

  it('refuses a snapshot without a ledger, then publishes one when all is classified', async () => {
    const context = await contextOf();
    await expect(fixture.run(context)).rejects.toMatchObject({ code: 'unclassified' });
    await keepTheRest(context);
    const { snapshot } = await fixture.run(context);
    expect(snapshot.sanitized).toBe(true);
    expect(await checkLedger(context, { target: 'app' })).toMatchObject({ open: [] });
  });
});
