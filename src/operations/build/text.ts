import type { Question } from '../../presentation/shapes/question.ts';
import { buildTitle, builtSummary } from '../../presentation/snapshot.ts';
import type { RunSummary } from '../../state/runs.ts';
import { sanitizeQuestion, sanitizeSummary, sanitizeTitle } from '../sanitize/text.ts';
import type { BuildPlan, BuildResult } from './planned-build.ts';

export function buildQuestion({ target, sanitize }: BuildPlan, now: Date): Question {
  if (sanitize) return sanitizeQuestion(sanitize, now);
  const title = buildTitle(target);
  const rest = { facts: [], steps: [], warnings: [], typed: null, harmless: true };
  return { title, consequence: 'No database is changed.', ask: `${title}?`, go: 'Build', ...rest };
}

export function buildRunTitle({ target, sanitize }: BuildPlan): string {
  return sanitize ? sanitizeTitle(sanitize) : buildTitle(target);
}

export function buildSummary({ snapshot, ...result }: BuildResult, { target, sanitize }: BuildPlan): RunSummary {
  if (!sanitize || !isSanitized(result)) return builtSummary(target, snapshot);
  return sanitizeSummary({ ...result, original: snapshot, snapshot: result.sanitized }, sanitize);
}

function isSanitized(result: Omit<BuildResult, 'snapshot'>): result is Required<Omit<BuildResult, 'snapshot'>> {
  return result.sanitized !== undefined;
}
