// Forms with a file show how much has arrived. Without this script they are plain forms.
'use strict'

const megabyte = 1024 * 1024

// The part is a form, or a section whose fields and button belong to the form of other fields.
function prepare (part) {
  const file = part.querySelector('input[type=file]')
  const { form } = file
  const bar = part.querySelector('progress')
  const status = part.querySelector('output')
  const preview = document.querySelector('[data-preview]')
  const say = (text) => { status.textContent = text }
  let busy = false // not data-busy, which is a text for page.js

  file.addEventListener('change', () => {
    const chosen = file.files[0]
    const tooLarge = chosen && chosen.size > part.dataset.max * megabyte
    say(tooLarge ? part.dataset.large : '')
    if (!chosen || tooLarge || !preview || !part.contains(preview) || !chosen.type.startsWith('image/')) return
    const reader = new FileReader()
    reader.onload = () => { preview.src = reader.result; preview.hidden = false }
    reader.readAsDataURL(chosen)
  })

  form.addEventListener('submit', (event) => {
    if (event.defaultPrevented || (part !== form && !part.contains(event.submitter))) return
    if (event.submitter && event.submitter.hasAttribute('formaction') && event.submitter.formEnctype !== 'multipart/form-data') return
    event.preventDefault()
    if (busy) return
    const end = (text) => { busy = false; delete form.dataset.sent; bar.hidden = true; say(text) }
    const chosen = file.files[0]
    if (chosen && chosen.size > part.dataset.max * megabyte) return end(part.dataset.large)
    busy = true
    const request = new XMLHttpRequest()
    request.open('POST', event.submitter && event.submitter.hasAttribute('formaction') ? event.submitter.formAction : form.action)
    request.setRequestHeader('Accept', 'text/html')
    request.upload.onprogress = (e) => {
      if (!e.lengthComputable) return
      bar.value = e.loaded / e.total
      say(e.loaded < e.total ? `${part.dataset.sending} ${Math.round(100 * e.loaded / e.total)} %` : part.dataset.checking)
    }
    request.onload = () => {
      if (request.status < 300) {
        // The response is the page after the redirect. Its address may be this one.
        if (location.href.split('#')[0] === request.responseURL.split('#')[0]) return location.reload()
        return location.assign(request.responseURL)
      }
      const next = new DOMParser().parseFromString(request.responseText, 'text/html').querySelector('main')
      if (!next) return end(part.dataset.failed)
      document.querySelector('main').replaceWith(document.adoptNode(next))
      document.querySelectorAll('[data-upload]').forEach(prepare)
      const faults = document.getElementById('faults')
      if (faults) faults.focus()
    }
    request.onerror = request.ontimeout = () => end(part.dataset.failed)
    bar.value = 0
    bar.hidden = false
    say(part.dataset.sending)
    request.send(new FormData(form))
  })
}

document.querySelectorAll('[data-upload]').forEach(prepare)
