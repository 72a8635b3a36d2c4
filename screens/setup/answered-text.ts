import { STORAGE_PROVIDERS } from '../../src/config/schema/storage-providers.ts';
import type { Fact } from '../../src/presentation/shapes/fact.ts';
import type { SetupState, SetupStepId } from './step.ts';
import { SETUP_STEPS } from './steps-text.ts';
import { isProvider } from './storage-steps-text.ts';

/** The answers before the present question, without secrets: a password is in none of them. */
export function answeredFacts(state: SetupState): Fact[] {
  const present = SETUP_STEPS.findIndex(({ id }) => id === state.step);
  const before = SETUP_STEPS.slice(0, present).map(({ id }) => id);
  return ANSWERS.flatMap(({ after, name, value }) => {
    const text = before.includes(after) ? value(state) : null;
    return text === null || text === '' ? [] : [{ name, value: text }];
  });
}

interface Answer {
  /** The question after which it is known. */
  after: SetupStepId;
  name: string;
  value: (state: SetupState) => string | null;
}

const ANSWERS: Answer[] = [
  { after: 'file', name: 'File', value: ({ config, answers }) => config ?? answers.file ?? null },
  // Of the typed URL only what the engine shows of it.
  { after: 'database', name: 'Source', value: ({ found }) => found.source?.display ?? null },
  { after: 'target', name: 'Target', value: ({ answers }) => answers.target ?? null },
  {
    after: 'schemas',
    name: 'Schemas',
    value: ({ found, leftOut }) => {
      const names = (found.source?.schemas ?? []).map((schema) => schema.name);
      const taken = names.filter((schema) => !leftOut.includes(schema));
      return leftOut.length === 0 ? null : taken.join(', ');
    },
  },
  { after: 'destination', name: 'Destination', value: ({ found }) => found.destination?.display ?? 'decided later' },
  {
    after: 'keep',
    name: 'Passwords',
    value: ({ answers: { keep } }) =>
      keep === undefined ? null : keep === 'variable' ? 'in environment variables' : 'encrypted in the file',
  },
  {
    after: 'storage',
    name: 'Storage',
    value: ({ answers: { storage, bucket, path } }) =>
      isProvider(storage)
        ? [STORAGE_PROVIDERS[storage].title, bucket].filter(Boolean).join(', ')
        : (path ?? 'this machine'),
  },
];
