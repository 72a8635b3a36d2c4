import type { ImageFacet } from '../../facets/image.ts';
import { homeFor } from '../../shared/server/server-home.ts';
import { findPrograms } from './image-programs.ts';
import { makeImage } from './make-image.ts';
import { findServer, stopServer } from './run-server.ts';
import { startOnImage } from './start-on-image.ts';

export const images: ImageFacet = {
  databases: ['mysql', 'sys', 'information_schema', 'performance_schema'],
  ...{ findPrograms, findServer, stopServer },
  findHome: (context, folder) => homeFor(context, { account: 'mysql', folder }),
  make: makeImage,
  start: startOnImage,
};
