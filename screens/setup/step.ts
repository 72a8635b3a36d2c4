import type { ChoiceOption } from '../../components/choice.tsx';
import type { SetupRoute } from './setup-route.ts';
import type { SetupStepId } from './step-ids.ts';

interface Asked {
  id: SetupStepId;
  about: (route: SetupRoute) => string[];
  /** Whether it applies to the answers so far. */
  when?: (route: SetupRoute) => boolean;
}

export interface TextStep extends Asked {
  kind: 'text';
  label: string;
  initial?: (route: SetupRoute) => string;
  optional?: boolean;
  secret?: boolean;
}

export interface ChoiceStep extends Asked {
  kind: 'choice';
  options: (route: SetupRoute) => ChoiceOption<string>[];
}

export type SetupStep = TextStep | ChoiceStep | (Asked & { kind: 'review' });
