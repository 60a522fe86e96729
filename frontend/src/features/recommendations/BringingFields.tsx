import { Textarea } from '@mantine/core'
import { useState } from 'react'
import { NumberField } from '~/ui/NumberField'
import { strings } from './strings'

/** Fields of the artifacts that tasks need on their VM, and of the cost of each minute of bringing one. */
export function BringingFields() {
  const [text, setText] = useState('')
  const wrong = artifactsOf(text).wrong
  return (
    <>
      <Textarea
        name="artifacts"
        label={strings.artifacts}
        description={strings.artifactsHelp}
        placeholder={strings.artifactsExample}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        error={wrong === null ? undefined : strings.artifactsWrong(wrong)}
        autosize
        minRows={2}
        maxRows={8}
        w={320}
      />
      <NumberField
        name="bringing_cost"
        label={strings.bringingCost}
        description={strings.bringingCostHelp}
        min={0}
        max={100}
        step="any"
        w={320}
      />
    </>
  )
}

/** Artifacts by application from lines `application = artifact`; `wrong` is the first line that is none. */
export function artifactsOf(text: string): { artifacts: Record<string, string>; wrong: string | null } {
  const artifacts: Record<string, string> = {}
  for (const line of text.split('\n').filter((one) => one.trim())) {
    const at = line.indexOf('=')
    const name = line.slice(0, Math.max(at, 0)).trim()
    const artifact = line.slice(at + 1).trim()
    if (!name || !artifact || Object.hasOwn(artifacts, name)) return { artifacts, wrong: line.trim() }
    artifacts[name] = artifact
  }
  return { artifacts, wrong: null }
}
