/** Why a template cannot be filled in. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

export function renderUrl(text: string, _environment: NodeJS.ProcessEnv): string {
  return text;
}
