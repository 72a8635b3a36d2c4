import type { WarningEvent } from '../../events.ts';
import type { Code, CodeDefinitions } from './definitions.ts';

/** Views of tables, columns or functions that are not there: the server keeps them, but makes none. */
export function invalidViewsOf({ views }: Pick<CodeDefinitions, 'views'>): string[] {
  return views.filter(({ invalid }) => invalid).map(({ name }) => name);
}

/** Why a view is in a snapshot, and perhaps not in what is loaded of it. */
const REASON = 'it refers to tables, columns or functions that do not exist, or that its user may not use';

export function invalidViewsFound(names: string[]): WarningEvent[] {
  return names.map((name) => {
    const message = `The view ${name} is not valid: ${REASON}. Its definition is stored; a load creates it only where it is valid`;
    return { event: 'warning', code: 'view_invalid', message };
  });
}

export function viewNotCreated({ name }: Pick<Code, 'name'>): WarningEvent {
  const message = `The view ${name} was not created: ${REASON}`;
  return { event: 'warning', code: 'view_invalid', message };
}
