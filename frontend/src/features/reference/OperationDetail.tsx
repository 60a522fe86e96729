import { useId } from 'react'
import {
  type Answer,
  type Contract,
  type Field,
  fieldsOf,
  type Operation,
  objectOf,
  shownType,
  typeOf,
} from './contract'
import styles from './reference.module.css'
import { strings } from './strings'
import { shown, Text } from './Text'
import { TryIt } from './TryIt'

/** One operation: who may call it, what it takes, what it answers, and a form that calls it. */
export function OperationDetail({ contract, operation }: { contract: Contract; operation: Operation }) {
  const heading = useId()
  const scopes = operation['x-required-scopes'] ?? []
  const parameters = operation.parameters.map((one) => ({
    name: one.name,
    type: `${shownType(contract, one.schema)}, ${one.in}`,
    required: one.required ?? false,
    description: one.description,
  }))
  const [mediaType, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  return (
    <article className={styles.detail} aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{operation.summary}</h2>
        <code className={styles.path}>
          {operation.method} {operation.path}
        </code>
        <p>{operation.description}</p>
        <ul className={styles.needs}>
          {operation.deprecated && <li>{strings.deprecated}</li>}
          <li>{strings.role(operation['x-required-role'])}</li>
          {scopes.length > 0 && !operation['x-person-only'] && <li>{strings.scopes(scopes)}</li>}
          {operation['x-person-only'] && <li>{strings.personOnly}</li>}
          {operation['x-confirmation'] && <li>{strings.confirmation}</li>}
        </ul>
      </header>
      {parameters.length > 0 && <Fields title={strings.parameters} fields={parameters} />}
      {body?.schema && (
        <section>
          <Fields
            title={`${strings.body}, ${mediaType}: ${typeOf(body.schema)}`}
            fields={fieldsOf(contract, objectOf(contract, body.schema))}
          />
        </section>
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

function Fields({ title, fields }: { title: string; fields: Field[] }) {
  return (
    <section>
      <h3>{title}</h3>
      {fields.length > 0 && (
        <table className={styles.fields}>
          <thead>
            <tr>
              <th scope="col">{strings.name}</th>
              <th scope="col">{strings.type}</th>
              <th scope="col">{strings.meaning}</th>
            </tr>
          </thead>
          <tbody>
            {fields.map(({ name, type, required, description }) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                  {required && <span className={styles.required}>{strings.required}</span>}
                </th>
                <td>{type}</td>
                <td>{description}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

function Success({ contract, status, answer }: { contract: Contract; status: string; answer: Answer }) {
  const [mediaType, media] = Object.entries(answer.content ?? {})[0] ?? []
  const fields = fieldsOf(contract, media?.schema && objectOf(contract, media.schema))
  const headers = Object.keys(answer.headers ?? {})
  const what = mediaType === undefined ? strings.noBody : `${mediaType}: ${typeOf(media?.schema ?? {})}`
  return (
    <>
      <Fields title={`${strings.response(status)}, ${what}`} fields={fields} />
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
