import * as v from 'valibot';
import { branchCreatePlan } from '../branch-results.ts';
import { describe, flag, number, optional, orNull, text } from '../fields.ts';
import { upPlan } from '../server-results.ts';
import { definitionDiff } from './diff-results.ts';
import { migrationRisk } from './migration-risk.ts';

const limits = v.object({
  max_lock_ms: optional(number),
  max_rewrite_bytes: optional(number),
  fail_on_warning: optional(flag),
});

export type RehearsalLimits = v.InferOutput<typeof limits>;

const work = v.object({
  kind: v.picklist(['command', 'sql_file', 'query_file']),
  run: describe(text, 'The command without secrets, or the path of the file.'),
});

export const rehearsalPlan = v.object({
  ...branchCreatePlan.entries,
  server: optional(describe(upPlan, 'With `--server`: there is no branch, and the destination is its database.')),
  works: describe(v.array(work), 'What is run on the branch, in this order.'),
  keep: describe(flag, 'The branch is kept.'),
  workload: optional(v.object({ file: text, sessions: number })),
  limits,
});

export type RehearsalPlan = v.InferOutput<typeof rehearsalPlan>;

const serverError = v.object({ code: text, message: describe(text, 'Values are masked.') });

const statement = v.object({
  text: describe(text, 'Its beginning; several statements where they were sent together.'),
  at_ms: describe(number, 'Since the work began.'),
  duration_ms: number,
  session: number,
  in_transaction: flag,
  error: orNull(serverError),
});

const lock = v.object({
  table: describe(text, '`schema.table`'),
  index: describe(orNull(text), 'The index that is locked; `null` for the table.'),
  mode: describe(text, 'Such as `ACCESS EXCLUSIVE`; of metadata locks `SHARED NO WRITE`.'),
  blocks: describe(v.picklist(['readers', 'writers', 'none']), 'Who would have waited; `readers`: writers as well.'),
  at_ms: number,
  held_ms: describe(number, 'At most so long.'),
  below_resolution: describe(flag, 'Shorter than a sample: known by the kind of the statement.'),
  statement: orNull(text),
});

const workloadWait = v.object({
  statement: text,
  at_ms: number,
  duration_ms: number,
  waited_for: describe(orNull(text), 'The statement of the migration; `null` where it waited for none.'),
});

export const rehearsalResult = v.object({
  target: text,
  snapshot: orNull(text),
  branch: describe(text, 'With `--server`: the id of the server.'),
  database: text,
  kept: flag,
  outcome: describe(v.picklist(['passed', 'failed', 'over_limit']), '`failed`: the command.'),
  problems: v.array(v.object({ code: text, message: text })),
  works: v.array(
    v.object({
      ...work.entries,
      exit: describe(orNull(number), 'Exit code; `null` for a file, and after a signal.'),
      duration_ms: number,
      failed: flag,
      output: describe(text, 'The end of both outputs, without secrets and without values in messages of the server.'),
    }),
  ),
  duration_ms: number,
  statements: v.array(statement),
  statements_left_out: describe(number, 'The shortest, beyond 2,000.'),
  locks: describe(v.array(lock), 'Stronger than that of statements that change rows, on tables that had rows.'),
  rewrites: describe(
    v.array(v.object({ kind: v.picklist(['table', 'index']), name: text, table: text, bytes: number })),
    'Tables and indexes that existed before and have new files.',
  ),
  rewritten_bytes: number,
  wal_bytes: describe(
    orNull(number),
    'WAL, or redo log of InnoDB, of the whole server meanwhile; `null` where it cannot be read.',
  ),
  growth_bytes: describe(number, 'Of the database.'),
  warnings: describe(v.array(migrationRisk), 'Statements that are dangerous under load.'),
  definitions: v.array(
    v.object({ name: text, change: v.picklist(['added', 'removed', 'changed']), diff: definitionDiff }),
  ),
  rows: describe(
    v.array(v.object({ table: text, before: orNull(number), after: orNull(number) })),
    'Tables with another number of rows; `null`: no such table.',
  ),
  source_estimate: optional(
    describe(
      v.object({
        snapshot: describe(text, 'The newest original one, whose sizes stand for those of the source.'),
        ratio: describe(number, 'Its bytes to those of the snapshot of the branch.'),
        duration_ms: number,
        longest_lock_ms: describe(number, 'Of those that readers or writers wait for.'),
      }),
      'Where the branch is smaller; assumes that durations grow with the bytes of the tables.',
    ),
  ),
  workload: optional(
    v.object({
      sessions: number,
      statements: describe(number, 'Run by all sessions.'),
      failed: number,
      first_error: describe(orNull(text), 'Values are masked.'),
      waits: describe(v.array(workloadWait), 'The slowest statements.'),
    }),
  ),
  sampling: v.object({
    interval_ms: number,
    samples: describe(
      number,
      '0: the server does not show its locks; their modes follow from the kinds of statements.',
    ),
    longest_gap_ms: describe(number, 'Locks of other connections that were shorter may be missing.'),
  }),
});

export type RehearsalResult = v.InferOutput<typeof rehearsalResult>;
