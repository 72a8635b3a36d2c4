import { expect, test } from 'vitest';
import { createViews, positionIn } from '../../../../screens/app/lists/in-view.ts';
import { selectedSnapshot, snapshotsRoute } from '../../../../screens/snapshots/snapshots-route.ts';
import { snapshotsListed } from '../../../../src/state/snapshots.ts';
import { fakeSnapshot, fakeWorld } from '../../../helpers/fakes/fake-world.ts';
import { newModel, press } from '../../../helpers/terminal/driven-model.ts';

const rows = Array.from({ length: 10_000 }, (_, index) => fakeSnapshot({ index }));

test('the visible rows are computed once for the same rows and filter', () => {
  const { snapshots } = createViews();
  const view = snapshots(rows, '');
  expect(snapshots(rows, '')).toBe(view);
  expect(snapshots(rows, 'snapshot-9').ids).toHaveLength(1111);
  expect(snapshots([...rows], '')).not.toBe(view);
});

test('the place of a selection is known by its identity; of what is gone it is the first', () => {
  const view = createViews().snapshots(rows, '');
  expect(positionIn(view, 'snapshot-5000')).toBe(5000);
  expect(positionIn(view, 'gone')).toBe(0);
  expect(positionIn(createViews().snapshots([], ''), null)).toBe(-1);
});

test('a key among 10,000 snapshots reads none of them but those that it moves between', () => {
  let read = 0;
  const counted = rows.map((row) => ({
    ...row,
    get id() {
      read += 1;
      return row.id;
    },
  }));
  const model = newModel(fakeWorld());
  model.navigation.push(snapshotsRoute('app'));
  model.snapshots.setState((state) => snapshotsListed(state, 'app', counted));
  press(model, 'j');
  read = 0;
  press(model, 'j', 'G', 'k', 'pageup');
  const place = model.navigation.top();
  expect(place.screen === 'snapshots' && selectedSnapshot(model, place)?.index).toBe(9998 - 18);
  expect(read).toBeLessThan(20);
});
