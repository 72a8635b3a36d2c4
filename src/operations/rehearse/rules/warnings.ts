import type { RehearsalWarning } from '../../../results/rehearsal-warning.ts';
import type { RehearsedStatement, RuleFacts } from './rule.ts';

/** Returns a warning for each statement that is dangerous under load, in the order of the statements. */
export type WarningsOf = (statements: readonly RehearsedStatement[], facts: RuleFacts) => readonly RehearsalWarning[];
