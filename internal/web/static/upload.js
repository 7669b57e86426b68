// Forms with a file show how much has arrived. Without this script they are plain forms.
'use strict'

const megabyte = 1024 * 1024

function prepare (form) {
  const file = form.elements.file
  const bar = form.querySelector('progress')
  const status = form.querySelector('output')
  const preview = document.querySelector('[data-preview]')
  const say = (text) => { status.textContent = text }
  let busy = false // not data-busy, which is a text for page.js

  file.addEventListener('change', () => {
    const chosen = file.files[0]
    const tooLarge = chosen && chosen.size > form.dataset.max * megabyte
    say(tooLarge ? form.dataset.large : '')
    if (!chosen || tooLarge || !preview || !form.contains(preview) || !chosen.type.startsWith('image/')) return
    const reader = new FileReader()
    reader.onload = () => { preview.src = reader.result; preview.hidden = false }
    reader.readAsDataURL(chosen)
  })

  form.addEventListener('submit', (event) => {
    if (event.defaultPrevented) return
    event.preventDefault()
    if (busy) return
    const chosen = file.files[0]
    if (chosen && chosen.size > form.dataset.max * megabyte) return say(form.dataset.large)
    busy = true
    const end = (text) => { busy = false; delete form.dataset.sent; bar.hidden = true; say(text) }
    const request = new XMLHttpRequest()
    request.open('POST', form.action)
    request.setRequestHeader('Accept', 'text/html')
    request.upload.onprogress = (e) => {
      if (!e.lengthComputable) return
      bar.value = e.loaded / e.total
      say(e.loaded < e.total ? `${form.dataset.sending} ${Math.round(100 * e.loaded / e.total)} %` : form.dataset.checking)
    }
    request.onload = () => {
      if (request.status < 300) {
        // The response is the page after the redirect. Its address may be this one.
        if (location.href.split('#')[0] === request.responseURL.split('#')[0]) return location.reload()
        return location.assign(request.responseURL)
      }
      const next = new DOMParser().parseFromString(request.responseText, 'text/html').querySelector('main')
      if (!next) return end(form.dataset.failed)
      document.querySelector('main').replaceWith(document.adoptNode(next))
      document.querySelectorAll('form[data-upload]').forEach(prepare)
      const faults = document.getElementById('faults')
      if (faults) faults.focus()
    }
    request.onerror = request.ontimeout = () => end(form.dataset.failed)
    bar.value = 0
    bar.hidden = false
    say(form.dataset.sending)
    request.send(new FormData(form))
  })
}

document.querySelectorAll('form[data-upload]').forEach(prepare)
