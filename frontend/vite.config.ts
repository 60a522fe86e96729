import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { tanstackRouter } from '@tanstack/router-plugin/vite'
import react from '@vitejs/plugin-react'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'
import { documentation } from './help/documentation.ts'
import { keepUnits } from './help/units.ts'

/** Where `npm run dev` finds the API; in production the API serves the built files itself. */
const backend = process.env.SINEMORA_PUBLIC_URL ?? 'http://127.0.0.1:8420'

/** Write compressed files next to the built ones; the backend sends the one that a browser accepts. */
const precompress: Plugin = {
  name: 'precompress',
  apply: 'build',
  enforce: 'post',
  writeBundle({ dir = 'dist' }, bundle) {
    // Not the page: each response of it has a nonce of its own.
    for (const name of Object.keys(bundle).filter((file) => /\.(css|js|svg)$/.test(file))) {
      const content = readFileSync(join(dir, name))
      writeFileSync(join(dir, `${name}.br`), brotliCompressSync(content))
      writeFileSync(join(dir, `${name}.gz`), gzipSync(content, { level: 9 }))
    }
  },
}

/** Pages of the documentation that the console shows as help, in reading order. */
const HELP = [
  'console',
  'glossary',
  'agent',
  'agent-measurements',
  'agent-interoperability',
  'advisors',
  'tail-lab',
  'artifacts',
  'latency-budget',
  'alerts',
  'curves',
  'recommendations',
  'placement',
  'simulation',
  'api/README',
  'api/measurements',
  'api/prometheus',
  'operations',
  'security',
]

/** Files that only dialogs and long lists of choices need. */
const DIALOGS = /Modal|ScrollArea|Dialog\.tsx|remove-scroll|use-sidecar/

const UNITS = ['{help,src}/**/*.test.ts']
const COMPONENTS = 'src/**/*.test.tsx'
/** A chart on a canvas, which jsdom has not: its description stands for it. */
const CHART = {
  find: /^.*\/series\/SeriesChart$/,
  replacement: fileURLToPath(new URL('./src/testing/SeriesChart.tsx', import.meta.url)),
}

export default defineConfig({
  plugins: [
    tanstackRouter({ target: 'react', autoCodeSplitting: true, generatedRouteTree: 'src/routeTree.gen.ts' }),
    react(),
    documentation(fileURLToPath(new URL('../docs', import.meta.url)), HELP),
    keepUnits,
    precompress,
  ],
  // The server puts the nonce of each response in its place, and allows style elements with it.
  html: { cspNonce: 'nonce-of-the-response' },
  resolve: { alias: { '~': fileURLToPath(new URL('./src', import.meta.url)) } },
  server: {
    // A table of the backend is read from where it is.
    fs: { allow: ['..'] },
    proxy: Object.fromEntries(['/v1', '/healthz', '/readyz'].map((path) => [path, { target: backend }])),
  },
  // Nothing is inlined as a data URL: the content policy of the served page allows our own files only.
  build: {
    // Browsers of mid 2024 and later, so that light-dark() stays as it is written.
    target: ['chrome123', 'firefox125', 'safari17.5'],
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        // What half of the pages need is one file: it compresses better than one for each set of pages that share a module.
        // Not dialogs: the first page opens none.
        codeSplitting: { groups: [{ name: 'common', minShareCount: 22, test: (id) => !DIALOGS.test(id) }] },
      },
      // d3 makes colours as it loads that we do not use.
      treeshake: { manualPureFunctions: ['cubehelix', 'interpolateCubehelixLong', 'rgb'] },
    },
  },
  test: {
    environment: 'node',
    setupFiles: ['src/testing/setup.ts'],
    // On a busy machine a form takes seconds to render.
    testTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    // To load React and Mantine takes longer than most tests: a process does it once, and `setup.ts` clears what a file
    // leaves behind.
    projects: [
      { extends: true, test: { name: 'units', include: UNITS, isolate: false } },
      {
        extends: true,
        test: { name: 'components', include: [COMPONENTS], alias: [CHART], environment: 'jsdom', isolate: false },
      },
    ],
  },
})
