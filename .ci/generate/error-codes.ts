import { ERRORS } from '../../src/runtime/error-codes.ts';
import { EXIT } from '../../src/runtime/errors.ts';

/**
 * Puts the exit codes and explanations of src/runtime/error-codes.ts into docs/errors.md, which has the order of the
 * codes. A line with several exit codes, or of warnings, stays as it is. Throws for a code that the page lacks.
 */
export function withErrorCodes(page: string): string {
  return Object.entries(ERRORS).reduce(
    (text, [name, codes]) => withCodes(text, EXIT[name as keyof typeof ERRORS], codes),
    page,
  );
}

function withCodes(page: string, exit: number, codes: Record<string, string>): string {
  return Object.entries(codes).reduce((text, [code, explanation]) => {
    const line = new RegExp(`^- \`${code}\` \\((?:${exit}|[\\d, ]*, ?[\\d, ]*)\\): `, 'm');
    if (!line.test(text))
      throw new Error(`docs/errors.md lacks a line for the error: - \`${code}\` (${exit}): ${explanation}`);
    return text.replace(
      new RegExp(`^- \`${code}\` \\(${exit}\\): .*$`, 'm'),
      () => `- \`${code}\` (${exit}): ${explanation}`,
    );
  }, page);
}
