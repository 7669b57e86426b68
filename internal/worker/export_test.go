package worker

// MaxPlaces is maxPlaces.
const MaxPlaces = maxPlaces
