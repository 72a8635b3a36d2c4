import type { TextEdit } from '../../../components/text-edit.ts';
import type { CommandId } from '../../../src/config/schema/default-keys.ts';
import type { Question } from '../../../src/presentation/shapes/question.ts';
import type { UserError } from '../../../src/runtime/errors.ts';
import type { RunDefinition } from '../../../src/state/runs.ts';

/** The question before something is replaced or removed. The plan is made while the screen is shown. */
export interface ConfirmRoute {
  screen: 'confirm';
  target: string;
  title: string;
  plan: PlannedRun | null;
  error: UserError | null;
  /** The name typed to confirm, where one is required. */
  typing: TextEdit | null;
  /** Lines. Default 0. */
  scrolled?: number;
  /** Ends the planning when the user leaves. */
  controller: AbortController;
  /** Plans again, after an error. */
  retry: () => void;
}

export interface PlannedRun {
  question: Question;
  definition: RunDefinition;
  /** Other ways to the same end, by the key that plans them. */
  alternatives?: Partial<Record<CommandId, () => void>>;
}
