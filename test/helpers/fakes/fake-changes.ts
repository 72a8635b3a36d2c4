import type { Operations } from '../../../screens/app/operations.ts';
import type { ChangesResult } from '../../../src/results/review/changes-results.ts';
import type { RowsDiff } from '../../../src/results/review/diff-results.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { type FakeWorld, fakeSnapshot } from './fake-world.ts';
import { unlessAborted } from './unless-aborted.ts';

/** The changes of every destination, and the rows of every changed table. */
export interface FakeChanges
  extends Pick<ChangesResult, 'tables' | 'definitions' | 'sequences' | 'large_objects' | 'unchanged'> {
  rows: (reveal: boolean) => RowsDiff;
  /** Statements of their SQL. */
  sql: string;
}

export function fakeChanges(changes: Partial<FakeChanges> = {}): FakeChanges {
  return {
    tables: [
      { table: 'public.customer', change: 'changed', added: 1, changed: 2, removed: 1 },
      { table: 'public.log', change: 'changed', added: null, changed: null, removed: null, not_compared: 'too_large' },
      { table: 'public.order_items', change: 'changed', added: 0, changed: 1204, removed: 12 },
      { table: 'sales.漢字 🚀', change: 'added', added: 3, changed: 0, removed: 0 },
    ],
    definitions: [
      {
        ...{ name: 'public.customer (table)', change: 'changed' },
        diff: [
          { change: 'same', text: 'CREATE TABLE public.customer (' },
          { change: 'removed', text: '    note character varying(20),' },
          { change: 'added', text: '    note text,' },
        ],
      },
    ],
    sequences: [{ name: 'public.customer_id_seq (sequence)', from: '17', to: '60' }],
    ...{ large_objects: 0, unchanged: 57, sql: "INSERT INTO public.customer VALUES (60, 'x');\n" },
    rows: fakeRows,
    ...changes,
  };
}

/** One row of each kind: wide characters, a control character, NULL, personal data and a long text. */
export function fakeRows(reveal: boolean): RowsDiff {
  const mask = (text: string): string => (reveal ? text : '***');
  const long = 'lorem ipsum dolor sit amet consectetur adipiscing elit '.repeat(3);
  return {
    columns: [
      { name: 'first_name', personal: null, masked: false },
      { name: 'customer_id', personal: null, masked: false },
      { name: 'email', personal: 'e-mail address', masked: !reveal },
      { name: 'amount', personal: null, masked: false },
      { name: 'note', personal: null, masked: false },
    ],
    ...{ key: ['customer_id'], added: 1, removed: 1, changed: 2 },
    samples: [
      { change: 'removed', values: ['Leonie', '2', mask('leonie@example.com'), '7.50', null] },
      { change: 'added', values: ['漢字漢字', '60', mask('new@example.com'), '12345', ''] },
      { change: 'before', values: ['Luís', '1', mask('luisg@example.com'), '3', `${long}end`] },
      {
        ...{ change: 'after', values: ['Luís', '1', mask('luisg@example.com'), '3', `${long}\u001b[2J\nend`] },
        changed_columns: ['note'],
      },
      { change: 'before', values: ['Bjørn', '4', mask('bjorn@example.com'), '3', 'x'] },
      {
        ...{ change: 'after', values: ['Bjørn', '4', mask('xbjorn@example.com'), '3', 'x'] },
        changed_columns: ['email'],
      },
    ],
  };
}

/** Comparisons over a world that the test can look at; one waits for the gate, and ends when it is left. */
export function fakeComparison(world: FakeWorld): Pick<Operations, 'withChanges'> {
  return {
    async withChanges({ report, signal }, { target, branch, since }, use) {
      const of = [target, branch && `branch ${branch}`, since && `since ${since}`].filter(Boolean).join(' ');
      world.done.push(`open changes of ${of}`);
      report({ event: 'step', step: 'dump', state: 'started', label: `Read ${world.destination.database}` });
      report({
        ...{ event: 'progress', step: 'dump', done: 120_000_000, total: 443_000_000, unit: 'bytes' },
        ...{ current: 'public.orders', of_current: { done: 60_000_000, total: 90_000_000, bytes: 60_000_000 } },
      });
      await unlessAborted(world.gate, signal);
      if (world.failChanges) throw world.failChanges;
      const { rows, sql, ...changes } = world.changes;
      await use({
        result: {
          ...{ target, ...(branch !== undefined && { branch }), destination: world.destination.url, ...changes },
          since: {
            kind: since === undefined ? 'load' : 'save',
            ...(since && { name: since }),
            snapshot: fakeSnapshot(),
          },
        },
        readTable: async (_shown, aborted) => {
          aborted.throwIfAborted();
          return rows(_shown.reveal);
        },
        async makeSql({ file, most }) {
          if (changes.large_objects > 0) throw new UserError('changes_not_as_sql', 'Large objects differ');
          const statements = sql.split('\n').length - 1;
          return sql.length > most ? { file, statements } : { text: sql, statements };
        },
      });
      world.done.push(`close changes of ${of}`);
    },
  };
}
