import type { TextEdit } from '../../components/text-edit.ts';
import type { UserError } from '../../src/runtime/errors.ts';
import type { SetupState } from './step.ts';

/** The wizard for a first configuration. */
export interface SetupRoute extends SetupState {
  screen: 'setup';
  typing: TextEdit | null;
  /** Ends the running check; `null` when there is none. */
  busy: AbortController | null;
  scrolledUp: number;
  error: UserError | null;
}
