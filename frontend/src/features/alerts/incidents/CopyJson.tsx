import { Button } from '@mantine/core'
import { useState } from 'react'
import { strings } from '../strings'

/** Copies a value as JSON. */
export function CopyJson({ value }: { value: object }) {
  const [result, setResult] = useState<'copied' | 'refused' | null>(null)

  async function copy() {
    try {
      await navigator.clipboard.writeText(JSON.stringify(value, null, 2))
      setResult('copied')
    } catch {
      // On plain HTTP there is no clipboard to write to.
      setResult('refused')
    }
  }

  return (
    <>
      <span role="status">{result && strings[result]}</span>
      <Button variant="default" onClick={copy}>
        {strings.copyJson}
      </Button>
    </>
  )
}
