import { serverFacts, targetServerColumns } from '../../src/operations/servers/list/text.ts';
import type { ServerRow } from '../../src/results/running-servers.ts';
import { formatNumberOf } from '../../src/text/format.ts';
import { useModel } from '../app/frame/frame.tsx';
import { ListFrame } from '../app/frame/list-frame.tsx';
import { ACTIVITY, BACK, LIST_KEYS, REFRESH } from '../app/keys.ts';
import { rowsByIndex } from '../app/lists/in-view.ts';
import type { ScreenModule } from '../app/model.ts';
import { EMPTY, LOADING } from '../app/text.ts';
import { REHEARSE_ON_SERVER } from '../commands/rehearse.ts';
import { COPY_SERVER_URL, NEW_SERVER, SERVER_CLIENT, STOP_SERVER } from './actions.ts';
import { refreshServers, type ServersRoute, serversOf } from './servers-route.ts';

export const serversScreen: ScreenModule<ServersRoute> = {
  title: 'Servers of a target',
  view: ServersView,
  keys: [
    NEW_SERVER,
    STOP_SERVER,
    COPY_SERVER_URL,
    SERVER_CLIENT,
    REHEARSE_ON_SERVER,
    BACK,
    REFRESH,
    ACTIVITY,
    ...LIST_KEYS,
  ],
  rows: (_, route) => rowsByIndex(serversOf(route)),
  onRefresh: async (model, { target }) => refreshServers(model, target),
};

function ServersView({ route }: { route: ServersRoute }) {
  const { target, found } = route;
  const now = useModel().clock();
  return (
    <ListFrame<ServerRow>
      route={route}
      path={[target, 'servers']}
      aside={found ? [{ text: formatNumberOf(found.length, 'server'), tone: 'dim' }] : []}
      columns={targetServerColumns(now)}
      rows={serversOf(route)}
      empty={found ? EMPTY.servers : LOADING.servers}
      detail={(server) => serverFacts(server, now)}
    />
  );
}
