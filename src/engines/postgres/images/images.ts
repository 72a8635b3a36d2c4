import type { ImageFacet } from '../../facets/image.ts';
import { homeFor } from '../../shared/server/server-home.ts';
import { sharing } from './image-files.ts';
import { findPrograms } from './image-programs.ts';
import { makeImage } from './make-image.ts';
import { findServer, stopServer } from './running-server.ts';
import { startOnImage } from './start-on-image.ts';

export const images: ImageFacet = {
  databases: ['postgres', 'template0', 'template1'],
  ...{ findPrograms, findServer, stopServer, sharing },
  findHome: (context, folder) => homeFor(context, { account: 'postgres', folder }),
  make: makeImage,
  start: startOnImage,
};
