import { placeOf } from '../../config/problems/invalid-configuration.ts';
import { settingsSchema } from '../../config/schema/settings.ts';
import { shapeOf } from '../../config/schema/shape.ts';
import { createExcerpts } from '../../config/yaml/excerpt.ts';
import type { Problem } from '../../results/configuration/configuration-results.ts';
import { printable } from '../../text/printable.ts';
import type { Style } from './style.ts';

export interface ProblemsView {
  /** Text of the file, for excerpts. */
  text: string;
  style: Style;
}

/** A paragraph for each problem: the message, the place with an excerpt of it, the hint. */
export function problemsText(problems: Problem[], { text, style: { paint } }: ProblemsView): string[][] {
  const excerptOf = createExcerpts(text, shapeOf(settingsSchema));
  return problems.map((problem) => {
    const { severity, message, hint } = problem;
    const place = placeOf(problem);
    return [
      `${paint(severity === 'error' ? 'bad' : 'caution', `${severity}:`)} ${printable(message)}`,
      ...(place ? [`  at ${printable(place)}`] : []),
      ...excerptOf(problem).map((line) => paint('dim', line)),
      ...(hint ? [`  ${paint('accent', 'hint:')} ${printable(hint)}`] : []),
    ];
  });
}
