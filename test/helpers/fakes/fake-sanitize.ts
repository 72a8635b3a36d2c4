import type { LedgerReview, ReviewedItem } from '../../../src/operations/sanitize/ledger/review.ts';
import type { PlannedSanitize } from '../../../src/operations/sanitize/sanitize.ts';
import type { OpenSuggestion } from '../../../src/operations/sanitize/suggest.ts';
import type { SnapshotRow } from '../../../src/results/results.ts';
import type { Coverage } from '../../../src/results/review/sanitize-results.ts';
import { chosenSql, type SuggestedColumn } from '../../../src/results/review/suggested-query.ts';
import type { LedgerState } from '../../../src/sanitize/ledger/ledger.ts';
import { writeQuery } from '../../../src/sanitize/suggestion.ts';
import type { FakeWorld } from './fake-world.ts';

export function fakeSanitize(
  world: FakeWorld,
  { target, snapshot }: { target: string; snapshot: SnapshotRow | null },
): PlannedSanitize {
  const query = { chosen_by: `targets.${target}.sanitize.query_file`, file: world.queryFile, base64: false };
  return {
    request: { target },
    plan: {
      target,
      snapshot,
      query: { ...query, statements: [{ number: 1, line: 1, text: 'TRUNCATE login' }] },
      destination: null,
      where: 'a throw-away PostgreSQL server',
      restored_by: 'temporary_user',
      restored_by_reason: 'it has no rights outside a throw-away server',
      strict: false,
      undo: false,
      unverified_sources: [],
      steps: ['Restore the original', 'Run the statement of the query there'],
      warnings: [],
    },
    planned_at: '2026-11-21T03:00:00.000Z',
    engine: 'postgres',
    keep: [],
  };
}

export function fakeCoverage(): Coverage {
  const samples = ['a**@****.*******.***'];
  return {
    tables: [
      { name: 'public.person', state: 'changed', rows_before: 500, rows_after: 500, indirect: false },
      { name: 'public.login', state: 'emptied', rows_before: 100, rows_after: 0, indirect: false },
    ],
    findings: [
      {
        ...{ column: 'public.person.email', kind: 'email', meaning: 'an e-mail address', by: 'values' },
        ...{ state: 'unchanged', generated: false, values: 500, original_values: 500 },
        ...{ from: ['public.person.email'], samples, samples_after: samples },
      },
    ],
    acknowledged: [{ column: 'public.person.city', kind: 'address', reason: 'cities are large' }],
    changed: [
      {
        ...{ column: 'public.person.first_name', kind: 'name', meaning: 'a name of a person' },
        ...{ samples: ['A**'], samples_after: ['P***** *'] },
      },
    ],
    common: [],
  };
}

/** Four columns in two tables: two that a foreign key connects, one without a value, one that is generated. */
export function fakeSuggestion(): OpenSuggestion {
  const column = (table: string, name: string, change: Partial<SuggestedColumn> = {}): SuggestedColumn => ({
    column: `public.${table}.${name}`,
    name,
    path: `public.${table}.${name}`,
    meaning: 'an e-mail address',
    generated: false,
    replacement: `mask(${name})`,
    partners: [],
    ...change,
  });
  const table = (name: string, columns: SuggestedColumn[]) => {
    return { name: `public.${name}`, columns, before: [], after: [], unchanged: [] };
  };
  const query = {
    heading: '-- A first query',
    functions: 'CREATE FUNCTION mask(text) RETURNS text;',
    tables: [
      table('person', [
        column('person', 'email', { partners: ['public.login.email'] }),
        column('person', 'nickname', { replacement: null, meaning: 'a name of a person' }),
        column('person', 'label', { replacement: null, generated: true }),
      ]),
      table('login', [column('login', 'email', { partners: ['public.person.email'] })]),
    ],
    keys: [],
    beforeKeys: [],
    closing: [],
    remarks: { triggers: 'triggers', keys: 'keys', end: 'end' },
  };
  return {
    findings: fakeCoverage().findings,
    query,
    write: (choices) => writeQuery(query, choices),
    openedMs: 1200,
    tryOut: async (choices) => ({
      ms: 84,
      columns: query.tables
        .flatMap(({ columns }) => columns)
        .flatMap((each) => {
          const sql = chosenSql(each, choices);
          if (sql === null) return [];
          const error = sql.includes('wrong') ? 'column "wrong" does not exist' : null;
          const values = error === null ? [{ before: 'a**@****.***', after: `u*** by ${sql}` }] : [];
          return [{ column: each.column, values, error }];
        }),
    }),
  };
}

/** Five open columns of three tables, of which the largest has classified ones. */
export function fakeReview(): LedgerReview {
  const column = (table: string, name: string, state: LedgerState = 'open') => ({
    ...{ name: `public.${table}.${name}`, column: name, state },
  });
  const open = (table: string, name: string, rest: Partial<ReviewedItem>): ReviewedItem => ({
    ...{ name: `public.${table}.${name}`, type: 'text', entry: { state: 'open' }, table: `public.${table}` },
    ...{ samples: [], valuesLeft: 500, rows: 500, ...rest },
  });
  return {
    file: '/home/ada/sanitize.lock.yml',
    tables: new Map([
      [
        'public.person',
        [
          column('person', 'id', 'kept'),
          ...['first_name', 'last_name', 'email', 'phone'].map((name) => column('person', name, 'changed')),
          ...['created_at', 'remarks', 'nickname'].map((name) => column('person', name)),
        ],
      ],
      ['public.orders', [column('orders', 'id', 'kept'), column('orders', 'state')]],
      ['public.event', [column('event', 'payload', 'changed')]],
    ]),
    open: [
      open('event', 'payload->kind', { type: 'JSON key', table: 'public.event', samples: ['v****', 'c****'] }),
      open('orders', 'state', { type: 'order_state', values: ['new', 'paid'], samples: ['n**', 'p***'], rows: 1200 }),
      open('person', 'created_at', {
        type: 'timestamp with time zone',
        samples: ['2***-**-** **:**:**+**', '2***-**-** **:**:**+**'],
      }),
      open('person', 'nickname', { valuesLeft: 0 }),
      open('person', 'remarks', { samples: ['l**** ***', 'c**** ** ***** *** **', 'd** *** *** ****'] }),
    ],
  };
}
