import { profileOfScheme } from '../../engines/list.ts';
import type { ResetPlan } from '../../results/load-results.ts';
import type { ExpectedStep } from '../../state/overall-progress.ts';
import { contentOf, copyStep, dropStep, type ExpectedContent, swapStep } from '../expected-steps.ts';

export function resetExpectedSteps({ way, from, spare, undo, base, destination }: ResetPlan): ExpectedStep[] {
  const { database, url, size_bytes } = destination;
  const engine = profileOfScheme(url.split(':', 1)[0] ?? '')?.id ?? 'postgres';
  const unknown = contentOf(null, engine);
  const content: ExpectedContent = { ...unknown, bytes: base.size_bytes ?? size_bytes ?? unknown.bytes };
  if (way === 'in_place') return [{ step: 'swap', label: `Reset ${database} in place`, ms: 200 }];
  return [
    from === 'base'
      ? copyStep('prepare', 'Create a shadow database from the base copy', content)
      : { step: 'prepare', label: 'Take the spare', ms: 60 },
    swapStep(database, content),
    ...(undo && engine === 'postgres' ? [dropStep(content)] : []),
    ...(spare ? [copyStep('spare', 'Create the spare', content)] : []),
  ];
}
