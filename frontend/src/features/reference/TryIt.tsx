import { Button, PasswordInput, Textarea, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Panel } from '~/ui/Page'
import { Notice } from '~/ui/State'
import { type Operation, typeOf } from './contract'
import styles from './reference.module.css'
import { type Answered, requestOf, send } from './request'
import { strings } from './strings'
import { shown, Text } from './Text'

/** A form with the parameters and the body of an operation, which sends them and shows the answer. */
export function TryIt({ operation }: { operation: Operation }) {
  const [mediaType, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  const [body, setBody] = useState(media?.example === undefined ? '' : shown(media.example))
  const call = useMutation({ mutationFn: send })

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const values = Object.fromEntries([...form].map(([name, value]) => [name, String(value)]))
    call.mutate(requestOf(operation, { values, body, mediaType, key: values['API key']?.trim() ?? '' }))
  }

  return (
    <Panel title={strings.tryIt}>
      <form onSubmit={submit}>
        <div className={styles.inputs}>
          {operation.parameters.map(({ name, schema, required }) => (
            <TextInput
              key={name}
              name={name}
              label={name}
              placeholder={typeOf(schema)}
              required={required ?? false}
              withAsterisk={false}
              autoComplete="off"
              spellCheck={false}
            />
          ))}
          <PasswordInput name="API key" label={strings.apiKey} description={strings.keyHint} autoComplete="off" />
        </div>
        {mediaType !== undefined && (
          <Textarea
            label={strings.body}
            value={body}
            onChange={(event) => setBody(event.currentTarget.value)}
            autosize
            minRows={4}
            maxRows={20}
            spellCheck={false}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12 } }}
            mb="sm"
          />
        )}
        {operation.method !== 'GET' && <p className={styles.needs}>{strings.changes}</p>}
        <Button type="submit" size="sm" mt="sm" loading={call.isPending}>
          {strings.send}
        </Button>
      </form>
      {call.error && <Notice tone="bad">{strings.unreachable}</Notice>}
      {call.data && <AnswerOf answered={call.data} />}
    </Panel>
  )
}

function AnswerOf({ answered }: { answered: Answered }) {
  return (
    <>
      <Notice
        tone={answered.status < 400 ? 'good' : 'bad'}
        title={`${answered.status} ${answered.reason}, ${strings.took(answered.tookMs.toFixed(0))}`}
      />
      <Text label={strings.headers} text={answered.headers.map((header) => header.join(': ')).join('\n')} />
      <Text label={strings.answer} text={answered.body || strings.noBody} />
    </>
  )
}
