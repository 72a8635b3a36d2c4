import { QUERY_ABSENT, queryEditedText } from '../../src/operations/sanitize/coverage-text.ts';
import { sanitizeOperation } from '../../src/operations/sanitize/operation.ts';
import { briefName } from '../../src/presentation/snapshot.ts';
import type { SnapshotRow } from '../../src/results/results.ts';
import { toUserError } from '../../src/runtime/errors.ts';
import { emptyList } from '../../src/state/list.ts';
import { contextOf, type KeyBinding, type Model, orNotify } from '../app/model.ts';
import { onRun, onTarget } from '../app/on-selected.ts';
import { noSnapshot, noTarget, notWritable } from '../app/why-not.ts';
import { offerReview } from '../ledger/actions.ts';
import { offerSuggestion, openSuggestion } from '../suggestion/actions.ts';
import { confirmOperation } from './runs/confirm.ts';

/** Applies to the selected snapshot, or to the original of the coverage shown. */
export const SANITIZE: KeyBinding = {
  id: 'sanitize',
  label: 'sanitize',
  help: 'run the sanitization query on a copy of the snapshot; shows the plan and asks first',
  palette: 'Sanitize snapshot…',
  whyNot: (context) => notWritable(context) ?? (context.run ? null : noSnapshot(context)),
  run: (model) => {
    const { target, snapshot, run } = contextOf(model);
    const original = snapshot ?? run?.summary?.sanitized?.original;
    if (!target || !original) return;
    const selected = { target: target.row.name, snapshot: original.sanitized_of ?? original.id };
    confirmOperation(model, sanitizeOperation, {
      request: { ...selected },
      title: `sanitize snapshot ${briefName(original)}`,
      onError: (thrown, signal) => {
        const isMissing = QUERY_MISSING.has(toUserError(thrown).code);
        // Instead of a plan that cannot be made.
        if (!isMissing || signal.aborted || !isConfirming(model, selected.target)) return;
        model.navigation.pop();
        offerSuggestion(model, selected);
      },
    });
  },
};

const QUERY_MISSING = new Set(['query_missing', 'query_file_not_found']);

function isConfirming({ navigation }: Model, target: string): boolean {
  const top = navigation.top();
  return top.screen === 'confirm' && top.target === target;
}

/** For columns that the query leaves, or without one. */
export const SUGGEST: KeyBinding = {
  id: 'fix',
  label: 'fix',
  help: 'suggest replacements for the unchanged columns: a checklist to edit, try and save',
  whyNot: (context) => {
    const left = context.run?.summary?.sanitized?.coverage.findings.length ?? 0;
    return notWritable(context) ?? (left > 0 ? null : 'No personal column is unchanged');
  },
  run: onRun((model, { target, summary }) => {
    const original = summary?.sanitized?.original;
    if (original) openSuggestion(model, { target, snapshot: original.id });
  }),
};

/** Goes through the columns that nobody has classified. */
export const CLASSIFY: KeyBinding = {
  id: 'classify',
  help: 'go through the columns that the ledger (sanitize.lock.yml) has open',
  palette: 'Classify columns…',
  whyNot: (context) => notWritable(context) ?? noTarget(context),
  run: onTarget(offerReview),
};

export const SHOW_COVERAGE: KeyBinding = {
  keys: ['enter', 'right'],
  label: 'coverage',
  help: 'what the sanitization query changed and what it did not',
  palette: 'Open coverage',
  when: ({ run }) => run?.summary?.sanitized !== undefined,
  run: onRun(({ navigation }, run) => navigation.push({ screen: 'coverage', run: run.id, list: emptyList })),
};

/** The query that made a snapshot, whatever the present one is. */
export const SHOW_QUERY: KeyBinding = {
  id: 'query',
  label: 'query',
  help: 'open the query that made the sanitized snapshot, in $VISUAL or $EDITOR',
  palette: 'Open query of snapshot',
  whyNot: (context) => noSnapshot(context) ?? noQuery(context.snapshot),
  run: (model) => {
    const file = contextOf(model).snapshot?.query_file;
    if (file) void orNotify(model, () => model.terminal.edit(file));
  },
};

function noQuery(snapshot: SnapshotRow | null): string | null {
  if (snapshot?.query_file) return null;
  return snapshot?.sanitized ? QUERY_ABSENT.elsewhere : QUERY_ABSENT.original;
}

export const EDIT_QUERY: KeyBinding = {
  id: 'edit',
  keys: ['e'],
  label: 'edit the query',
  help: 'open the file of the query in $VISUAL or $EDITOR',
  palette: 'Edit query',
  whyNot: (context) =>
    notWritable(context) ??
    (context.run?.summary?.sanitized?.queryFile ? null : 'The query is in the configuration, not in a file'),
  run: onRun((model, { summary }) => {
    const file = summary?.sanitized?.queryFile;
    if (file) void orNotify(model, () => editQuery(model, file));
  }),
};

async function editQuery({ operations, terminal, navigation }: Model, file: string): Promise<void> {
  await operations.keepTrust(() => terminal.edit(file));
  navigation.notify({ tone: 'plain', text: queryEditedText(file) });
}
