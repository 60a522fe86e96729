/** Orders grids off the main thread. */

import { bySimilarity } from './order'

self.onmessage = ({ data }: MessageEvent<Parameters<typeof bySimilarity>>) => self.postMessage(bySimilarity(...data))
