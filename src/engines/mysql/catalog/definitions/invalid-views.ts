import type { WarningEvent } from '../../../../results/events.ts';
import type { Code, CodeDefinitions } from './definitions.ts';

/** The server keeps views of missing objects, but cannot create them. */
export function invalidViewsOf({ views }: Pick<CodeDefinitions, 'views'>): string[] {
  return views.filter(({ invalid }) => invalid).map(({ name }) => name);
}

const REASON = 'they reference missing tables, columns or functions, or their user lacks a privilege';

export function invalidViewsFound(names: string[]): WarningEvent[] {
  const message = `Views that are not valid: ${names.join(', ')}. Their definitions are stored, and a load creates them only where they are valid: ${REASON}`;
  return names.length === 0 ? [] : [{ event: 'warning', code: 'view_invalid', message }];
}

export function viewsNotCreated(views: Pick<Code, 'name'>[]): WarningEvent[] {
  const names = views.map(({ name }) => name).join(', ');
  const message = `Views that were not created: ${names}: ${REASON}`;
  return views.length === 0 ? [] : [{ event: 'warning', code: 'view_invalid', message }];
}
