import { factsOf } from '../app/facts.ts';
import type { Model } from '../app/model.ts';
import { nextSort } from './sort.ts';

export function sort(model: Model): void {
  const route = model.navigation.top();
  if (route.screen !== 'targets') return;
  const next = nextSort(route.sort);
  model.navigation.replace({ ...route, sort: next });
  const by = next === 'configured' ? 'As in the configuration' : `Sorted by ${next}`;
  model.navigation.notify({ tone: 'plain', text: by });
}

/** The source's URL among the targets, the destination's among the snapshots; neither has its password in it. */
export function copyUrl(model: Model): void {
  const { target } = factsOf(model);
  const isAmongTargets = model.navigation.top().screen === 'targets';
  const url = isAmongTargets ? target?.row.src_url : target?.row.dst_url;
  if (!url) {
    const text = `There is no ${isAmongTargets ? 'source' : 'destination'} to copy the URL of`;
    model.navigation.notify({ tone: 'caution', text });
    return;
  }
  model.terminal.copy(url);
  model.navigation.notify({ tone: 'good', text: `Copied ${url}` });
}
