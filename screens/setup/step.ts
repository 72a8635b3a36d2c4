import type { ChoiceOption } from '../../components/choice.tsx';
import type { SetupPlace } from './setup-place.ts';
import type { SetupStepId } from './step-ids.ts';

interface Asked {
  id: SetupStepId;
  about: (place: SetupPlace) => string[];
  /** Whether it is asked at all, after what was answered before. */
  when?: (place: SetupPlace) => boolean;
}

export interface TextStep extends Asked {
  kind: 'text';
  label: string;
  /** What stands in the field at first. */
  initial?: (place: SetupPlace) => string;
  optional?: boolean;
  /** Is not shown while it is typed. */
  secret?: boolean;
}

export interface ChoiceStep extends Asked {
  kind: 'choice';
  options: (place: SetupPlace) => ChoiceOption<string>[];
}

export type SetupStep = TextStep | ChoiceStep | (Asked & { kind: 'review' });
