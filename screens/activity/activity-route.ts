import { type ActivityEntry, activityOf } from '../app/lists/activity.ts';
import { type FilterState, filtered } from '../app/lists/filter.ts';
import { selectedItem } from '../app/lists/in-view.ts';
import type { Model } from '../app/model.ts';

export interface ActivityRoute extends FilterState {
  screen: 'activity';
  /** `null`: every target. */
  of: string | null;
}

/** The entries of every target, or of one. */
export function allActivity({ runs, messages, history, clock }: Model, { of }: ActivityRoute): ActivityEntry[] {
  const entries = activityOf({
    runs: runs.store.getState().runs,
    messages: messages.store.getState().all,
    recorded: history.getState().found?.entries ?? [],
    now: clock().getTime(),
  });
  return of === null ? entries : entries.filter(({ target }) => target === of);
}

/** The entries that the filter lets through. */
export function activityInView(model: Model, route: ActivityRoute): ActivityEntry[] {
  return filtered(route, allActivity(model, route), ({ name, target, status, text }) => [name, target, status, text]);
}

export function selectedActivity(model: Model, route: ActivityRoute): ActivityEntry | null {
  return selectedItem(activityInView(model, route), ({ id }) => id, route.list);
}
