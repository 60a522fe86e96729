import { Fragment, type ReactNode, useId, useState } from 'react'
import {
  type Answer,
  type ApiContract,
  type Field,
  fieldsOf,
  type Operation,
  objectsIn,
  type Schema,
  shownType,
  typeOf,
} from './contract'
import styles from './reference.module.css'
import { Samples } from './Samples'
import { strings } from './strings'
import { shown, Text } from './Text'
import { TryIt } from './TryIt'

/** One operation: who may call it, what it takes, what it answers, and a form that calls it. */
export function OperationDetail({ contract, operation }: { contract: ApiContract; operation: Operation }) {
  const heading = useId()
  const scopes = operation['x-required-scopes'] ?? []
  const parameters = operation.parameters.map((one) => ({
    name: one.name,
    type: `${shownType(contract, one.schema)}, ${one.in}`,
    required: one.required ?? false,
    description: one.description,
    objects: [],
  }))
  const [mediaType, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  return (
    <article className={styles.detail} aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{operation.summary}</h2>
        <code className={styles.path}>
          {operation.method} {operation.path}
        </code>
        <p>{marked(operation.description)}</p>
        <ul className={styles.needs}>
          {operation.deprecated && <li>{strings.deprecated}</li>}
          <li>{strings.role(operation['x-required-role'])}</li>
          {scopes.length > 0 && !operation['x-person-only'] && <li>{strings.scopes(scopes)}</li>}
          {operation['x-person-only'] && <li>{strings.personOnly}</li>}
          {operation['x-confirmation'] && <li>{strings.confirmation}</li>}
        </ul>
      </header>
      <Samples operation={operation} />
      {parameters.length > 0 && (
        <section>
          <h3>{strings.parameters}</h3>
          <Fields contract={contract} fields={parameters} />
        </section>
      )}
      {body?.schema && (
        <Objects
          title={`${strings.body}, ${mediaType}: ${typeOf(body.schema)}`}
          contract={contract}
          objects={objectsIn(contract, body.schema)}
        />
      )}
      <TryIt operation={operation} />
      <section>
        <h3>{strings.responses}</h3>
        {Object.entries(operation.responses)
          .filter(([status]) => status < '400')
          .map(([status, answer]) => (
            <Success key={status} contract={contract} status={status} answer={answer} />
          ))}
        <Problems operation={operation} />
      </section>
    </article>
  )
}

/** The fields of a body: of its object, or of each object that it may be. */
function Objects(props: { title: string; contract: ApiContract; objects: [string, Schema][] }) {
  const { contract, objects } = props
  return (
    <section>
      <h3>{props.title}</h3>
      {objects.length === 1
        ? objects.map(([name, one]) => <Fields key={name} contract={contract} fields={fieldsOf(contract, one)} />)
        : objects.map((one) => <Expandable key={one[0]} contract={contract} object={one} />)}
    </section>
  )
}

function Fields({ contract, fields }: { contract: ApiContract; fields: Field[] }) {
  return (
    <table className={styles.fields}>
      <thead>
        <tr>
          <th scope="col">{strings.name}</th>
          <th scope="col">{strings.type}</th>
          <th scope="col">{strings.meaning}</th>
        </tr>
      </thead>
      <tbody>
        {fields.map(({ name, type, required, description, objects }) => (
          <Fragment key={name}>
            <tr data-opens={objects.length > 0 || undefined}>
              <th scope="row">
                <code>{name}</code>
                {required && <span className={styles.required}>{strings.required}</span>}
              </th>
              <td>{type}</td>
              <td>{marked(description)}</td>
            </tr>
            {objects.length > 0 && (
              <tr>
                <td colSpan={3}>
                  {objects.map((one) => (
                    <Expandable key={one[0]} contract={contract} object={one} />
                  ))}
                </td>
              </tr>
            )}
          </Fragment>
        ))}
      </tbody>
    </table>
  )
}

/** Words in which names are code, as the contract marks them. */
const marked = (words: string | undefined): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have only their place
  words?.split('`').map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part))

/** An object inside of another; its fields are there once it is open, since objects may contain themselves. */
function Expandable({ contract, object: [name, schema] }: { contract: ApiContract; object: [string, Schema] }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className={styles.object} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{name}</summary>
      {isOpen && (
        <>
          <p>{marked(schema.description)}</p>
          <Fields contract={contract} fields={fieldsOf(contract, schema)} />
        </>
      )}
    </details>
  )
}

function Success({ contract, status, answer }: { contract: ApiContract; status: string; answer: Answer }) {
  const [mediaType, media] = Object.entries(answer.content ?? {})[0] ?? []
  const objects = media?.schema ? objectsIn(contract, media.schema) : []
  const headers = Object.keys(answer.headers ?? {})
  const what = mediaType === undefined ? strings.noBody : `${mediaType}: ${typeOf(media?.schema ?? {})}`
  return (
    <>
      <Objects title={`${strings.response(status)}, ${what}`} contract={contract} objects={objects} />
      {headers.length > 0 && (
        <p className={styles.needs}>
          {strings.headers}: {headers.join(', ')}
        </p>
      )}
      {media?.example !== undefined && <Text label={strings.example} text={shown(media.example)} />}
    </>
  )
}

/** The codes of the problems by status. */
function Problems({ operation }: { operation: Operation }) {
  const refusals = Object.entries(operation.responses).filter(([, answer]) => answer['x-problem-codes']?.length)
  if (refusals.length === 0) return null
  return (
    <table className={styles.fields}>
      <thead>
        <tr>
          <th scope="col">{strings.status}</th>
          <th scope="col">{strings.codes}</th>
        </tr>
      </thead>
      <tbody>
        {refusals.sort().map(([status, answer]) => (
          <tr key={status}>
            <th scope="row">
              {status} {answer.description}
            </th>
            <td>
              <code>{answer['x-problem-codes']?.join(', ')}</code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
