import * as v from 'valibot';
import type {
  CommandEndedEvent,
  CommandEvent,
  ProgressEvent,
  RunEvent,
  SignInEvent,
  StepEvent,
  WarningEvent,
} from '../../runtime/events.ts';
import { matches } from './matches.ts';
import { number, orNull, text, texts } from './parts.ts';

/** Events of a run as `--json` prints them. Statements are for the log only. */
export const EVENTS = {
  step: matches<StepEvent>()(
    v.object({
      event: v.literal('step'),
      step: text,
      state: v.picklist(['started', 'done', 'skipped']),
      label: text,
    }),
  ),
  progress: matches<ProgressEvent>()(
    v.object({
      event: v.literal('progress'),
      step: text,
      done: number,
      total: orNull(number),
      unit: v.picklist(['tables', 'bytes', 'rows', 'statements', 'layers', 'targets']),
      bytes: v.exactOptional(number),
      current: v.exactOptional(text),
      of_current: v.exactOptional(v.object({ done: number, total: number, bytes: number })),
    }),
  ),
  command: matches<CommandEvent>()(v.object({ event: v.literal('command'), command: text })),
  command_ended: matches<CommandEndedEvent>()(
    v.object({ event: v.literal('command_ended'), command: text, exit: orNull(number), duration_ms: number }),
  ),
  sign_in: matches<SignInEvent>()(
    v.object({ event: v.literal('sign_in'), provider: text, url: text, user_code: orNull(text) }),
  ),
  warning: matches<WarningEvent>()(v.object({ event: v.literal('warning'), code: text, message: text })),
} satisfies Record<Exclude<RunEvent['event'], 'statement'>, v.GenericSchema>;

/** An error: the fields of the last event, and of `error` in a document. */
export const ERROR = { code: text, message: text, hint: orNull(text), exit: number, details: v.exactOptional(texts) };
