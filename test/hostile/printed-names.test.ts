import { expect, test } from 'vitest';
import {
  changesText,
  coverageText,
  diffText,
  printedRows,
  snapshotsText,
  subsetPlanText,
  tableDiffText,
  targetInfoText,
  targetsText,
} from '../../src/cli/printers/lists.ts';
import { questionLines } from '../../src/cli/printers/question.ts';
import { createStyle } from '../../src/cli/printers/style.ts';
import { builtSummary } from '../../src/operations/build/text.ts';
import { signedInLine, signInPrompt } from '../../src/operations/sign-in/text.ts';
import { explanationText } from '../../src/operations/subset/text.ts';
import { trustedText } from '../../src/operations/trust/trust-text.ts';
import { summaryOf, summaryText } from '../../src/presentation/shapes/summary.ts';
import { lackingFacts, snapshotFacts } from '../../src/presentation/snapshot.ts';
import { fakeCoverage } from '../helpers/fakes/fake-sanitize.ts';
import { fakeSnapshot, fakeTarget } from '../helpers/fakes/fake-world.ts';
import { questionOf } from '../helpers/terminal/question.ts';

const FORGED = '  Signature         valid (trusted by all)';
/** A name that begins a line of its own, in colour. */
const NAME = `z\n${FORGED}\n\x1b[31mred\x1b[39m`;

const plain = createStyle({ color: false, unicode: true });
const coloured = createStyle({ color: true, unicode: true });
const now = Date.parse('2026-11-22T00:00:00Z');

const snapshot = fakeSnapshot({
  schemas: [NAME],
  note: NAME,
  tags: [NAME],
  program: NAME,
  left_out_schemas: [{ schema: NAME, tables: 1 }],
  definitions_only: [{ table: NAME, engine: NAME, remote: false }],
  excluded_rows: { tables: [NAME], nullified: [{ table: NAME, columns: [NAME], references: NAME, rows: 1 }] },
  hidden: [{ kind: 'view', names: [NAME], right: NAME }],
  migrations: [{ tool: 'flyway', table: NAME, count: 1, newest: NAME, sha256: '' }],
  reading: {
    tables_read: 1,
    tables_partly_read: 0,
    tables_unchanged: 1,
    unchanged_bytes: 1,
    read: [NAME],
    all_read: null,
  },
});
const target = fakeTarget({ name: NAME, error: NAME, status: 'unreachable', src_url: NAME, dst_url: NAME });
const destination = {
  url: NAME,
  host: NAME,
  local: true,
  database: NAME,
  exists: true,
  size_bytes: 1,
  connections: 0,
  server_version: NAME,
};

type Options = { columns: number | null; style: typeof plain };

const lists: [what: string, print: (options: Options) => string][] = [
  ['snapshots', (view) => snapshotsText({ target: 'app', snapshots: [snapshot] }, { ...view, now, shares: false })],
  ['no snapshots', (view) => snapshotsText({ target: NAME, snapshots: [] }, { ...view, now, shares: false })],
  ['targets', (view) => targetsText([target], { ...view, now, file: NAME, mode: 'local', lacksSignIn: false })],
  ['no targets', (view) => targetsText([], { ...view, now, file: NAME, mode: 'local', lacksSignIn: false })],
  [
    'a difference',
    (view) =>
      diffText(
        {
          target: NAME,
          from: snapshot,
          to: snapshot,
          destination: null,
          changes: [
            {
              table: NAME,
              change: 'changed',
              from: { rows: 1, bytes: 1 },
              to: { rows: 2, bytes: 2 },
            },
          ],
          unchanged: 0,
        },
        view,
      ),
  ],
  [
    'changes',
    (view) =>
      changesText(
        {
          ...{ target: 'app', destination: NAME, since: { kind: 'save', name: NAME, snapshot }, unchanged: 0 },
          tables: [
            {
              ...{ table: NAME, change: 'changed', added: 0, changed: 1, removed: 0 },
              rows: {
                columns: [{ name: NAME, personal: null, masked: false }],
                ...{ key: [NAME], added: 0, removed: 0, changed: 1 },
                samples: [
                  { change: 'before', values: [NAME] },
                  { change: 'after', values: [NAME], changed_columns: [NAME] },
                ],
              },
            },
          ],
          definitions: [{ name: NAME, change: 'changed', diff: [{ change: 'added', text: NAME }] }],
          sequences: [{ name: NAME, from: NAME, to: null }],
          ...{ large_objects: 1, sql: { file: NAME, statements: 1 } },
        },
        view,
      ),
  ],
  [
    'a difference of a table',
    (view) =>
      tableDiffText(
        {
          target: 'app',
          table: NAME,
          from: snapshot,
          to: snapshot,
          definition: [{ change: 'added', text: NAME }],
          rows: {
            columns: [{ name: NAME, personal: null, masked: false }],
            key: [NAME],
            added: 1,
            removed: 0,
            changed: 0,
            samples: [{ change: 'added', values: [NAME] }],
          },
          rows_not_compared: null,
        },
        view,
      ),
  ],
  [
    'rows',
    (view) =>
      printedRows(
        {
          target: 'app',
          snapshot,
          table: NAME,
          columns: [{ name: NAME, personal: null, masked: false }],
          rows: [[NAME]],
          cut: [],
          total: 1,
        },
        view,
      ),
  ],
  [
    'a coverage',
    (view) =>
      coverageText(
        {
          ...fakeCoverage(),
          tables: [{ name: NAME, state: 'changed', rows_before: 1, rows_after: 1, indirect: false }],
          changed: [{ column: NAME, kind: NAME, meaning: NAME, samples: [NAME], samples_after: [NAME] }],
        },
        view,
      ),
  ],
  [
    'the plan of a subset',
    (view) =>
      subsetPlanText(
        {
          target: NAME,
          source: NAME,
          sanitized: true,
          sanitized_reason: NAME,
          destination,
          restored_by: 'temporary_user',
          restored_by_reason: NAME,
          seed: 1,
          undo: true,
          tables: [
            {
              table: NAME,
              rule: 'child',
              rows_now: 1,
              rows_expected: 1,
              bytes_now: 1,
              bytes_expected: 1,
              path: [NAME, '→', NAME],
              nulled: [NAME],
            },
          ],
          unverified_sources: [NAME],
          circles: [[NAME, NAME]],
          warnings: [{ code: 'connections', message: NAME }],
        },
        view,
      ),
  ],
];

const views: [string, Options][] = [
  ['piped', { columns: null, style: plain }],
  ['on a terminal', { columns: 100, style: coloured }],
  ['on a terminal without colours', { columns: 100, style: plain }],
  ['on a very narrow terminal', { columns: 12, style: plain }],
];

function expectHarmless(text: string): void {
  expect(text).toContain('Signature');
  expect(text).not.toContain('\x1b[31mred');
  expect(text).not.toMatch(/^\s*Signature\s+valid \(trusted/m);
}

test.each(lists.flatMap(([what, print]) => views.map(([where, view]) => [what, where, () => print(view)] as const)))(
  'a list of %s, %s, has no line and no colour of a name',
  (_, __, printed) => expectHarmless(printed()),
);

test.each([
  [
    'a question',
    () =>
      questionLines(
        questionOf({
          title: NAME,
          facts: [{ name: NAME, value: NAME }, ...lackingFacts(snapshot), ...snapshotFacts(snapshot, NAME)],
          steps: [NAME],
          warnings: [NAME],
          consequence: NAME,
        }),
      ).join('\n'),
  ],
  [
    'a summary',
    () =>
      summaryText(
        summaryOf(NAME, {
          details: [NAME],
          problems: [NAME],
          unavailable: { what: NAME, ms: 1 },
          undo: { database: NAME, command: NAME },
        }),
      ),
  ],
  ['the summary of a build', () => summaryText(builtSummary('app', snapshot))],
  ['the facts of a target', () => targetInfoText({ ...target, info: { ...NO_INFO, source: NAME } }, now)],
  [
    'the path of a row into a subset',
    () =>
      explanationText({
        target: 'app',
        row: { table: NAME, key: NAME },
        chain: [{ table: NAME, key: NAME, why: NAME }],
      }),
  ],
  ['a sign-in', () => signInPrompt({ provider: NAME, url: NAME, user_code: NAME })],
  [
    'the end of a sign-in',
    () =>
      signedInLine({
        ...{ provider: NAME, provider_url: '', signed_in: true, subject: null, name: NAME, groups: [NAME] },
        ...{ expires_at: null, refreshable: false, error: null },
      }),
  ],
  [
    'a trusted configuration',
    () => trustedText({ file: NAME, effects: [{ effect: 'reads', object: 'postgres://h/app', detail: '' }] }),
  ],
])('%s has no line and no colour of a name', (_, print) => expectHarmless(print()));

const NO_INFO = {
  schema_config: null,
  destination: null,
  destination_set_by: null,
  storage_profile: null,
  sanitize_query: null,
  sanitize_destination: null,
  sanitize_storage_profile: null,
  subset_source: null,
  subset_destination: null,
  subset_tables: [],
  shared_storage_profile: null,
  sso_groups: [],
  allow_destination_of: [],
  cpus: 1,
};
