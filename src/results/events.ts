import * as v from 'valibot';
import { describe, number, optional, orNull, text } from './fields.ts';

/** The events of a run, as `--json` prints them. */
export const EVENTS = {
  step: v.object({
    event: v.literal('step'),
    step: describe(text, 'Stable within one command: `dump`, `restore`, `swap`.'),
    state: v.picklist(['started', 'done', 'skipped']),
    label: text,
  }),
  progress: v.object({
    event: v.literal('progress'),
    step: text,
    done: number,
    total: describe(orNull(number), '`null` when unknown; an estimate may grow.'),
    unit: v.picklist(['tables', 'bytes', 'rows', 'statements', 'layers', 'targets', 'objects']),
    bytes: optional(describe(number, 'Bytes of the finished part, when `unit` is not bytes.')),
    current: optional(describe(text, 'The current item: `public.orders`.')),
    of_current: optional(
      describe(
        v.object({ done: number, total: number, bytes: number }),
        'Progress of the current item, in the same unit.',
      ),
    ),
  }),
  command: v.object({ event: v.literal('command'), command: text }),
  command_ended: v.object({
    event: v.literal('command_ended'),
    command: text,
    exit: describe(orNull(number), '`null` after a signal.'),
    duration_ms: number,
  }),
  sign_in: v.object({
    event: v.literal('sign_in'),
    provider: text,
    url: text,
    user_code: describe(orNull(text), 'The code to compare or type; `null` where the browser returns by itself.'),
  }),
  serving: v.object({
    event: v.literal('serving'),
    socket: describe(orNull(text), 'Path of a socket; `null` with `--tcp`.'),
    url: orNull(text),
    token: describe(orNull(text), 'For the header `Authorization: Bearer TOKEN`, with `--tcp`.'),
    branches: v.array(v.object({ branch: text, path: text })),
  }),
  server: v.object({
    event: v.literal('server'),
    server: describe(text, 'Its id, as in `tool ps`.'),
    url: describe(text, 'Without password.'),
    password: text,
  }),
  warning: v.object({ event: v.literal('warning'), code: text, message: text }),
};

type Event<Name extends keyof typeof EVENTS> = v.InferOutput<(typeof EVENTS)[Name]>;

export type ProgressEvent = Event<'progress'>;

export type CommandEndedEvent = Event<'command_ended'>;

export type SignInEvent = Event<'sign_in'>;

export type ServingEvent = Event<'serving'>;

export type ServerEvent = Event<'server'>;

export type WarningEvent = Event<'warning'>;

/** For the log only. */
export interface StatementEvent {
  event: 'statement';
  statement: string;
  /** `00000` after success; `null` when the connection was lost. */
  sqlstate: string | null;
  duration_ms: number;
}

/** The events of a run. Printers, log and screens consume the same stream. */
export type RunEvent = Event<keyof typeof EVENTS> | StatementEvent;
