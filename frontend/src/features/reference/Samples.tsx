import { SegmentedControl } from '@mantine/core'
import { createStore, useStore } from '~/lib/store'
import type { Operation } from './contract'
import { type Language, samplesOf } from './languages'
import { strings } from './strings'
import { Text } from './Text'

// Kept from one operation to the next.
const language = createStore<Language>('curl')

/** The call of an operation in the language that the reader chose, if the operation has it. */
export function Samples({ operation }: { operation: Operation }) {
  const chosen = useStore(language)
  const samples = samplesOf(operation, location.origin)
  const [shown = chosen, text = ''] = samples.find(([one]) => one === chosen) ?? samples[0] ?? []
  return (
    <section>
      <h3>{strings.samples}</h3>
      {samples.length > 1 && (
        <SegmentedControl
          size="xs"
          aria-label={strings.language}
          data={samples.map(([one]) => one)}
          value={shown}
          onChange={(value) => language.set(value as Language)}
        />
      )}
      <Text label={`${strings.samples}: ${shown}`} text={text} />
    </section>
  )
}
