package web

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// sharedRenderer returns the renderer with the files of all features.
var sharedRenderer = sync.OnceValues(func() (*Renderer, error) {
	folders, err := featureFolders()
	var files []fs.FS
	for _, folder := range folders {
		if folder != "../message" { // the renderer has its texts, and it has no templates
			files = append(files, os.DirFS(folder))
		}
	}
	if err != nil {
		return nil, err
	}
	return NewRenderer(files...)
})

// featureFolders returns the folders of the features that have pages.
func featureFolders() ([]string, error) {
	names, err := filepath.Glob("../*/texts.en.json")
	for i, name := range names {
		names[i] = filepath.Dir(name)
	}
	return names, err
}

// featureFiles returns the files of this package and of all features that match own and features.
func featureFiles(own, features string) ([]string, error) {
	names, err := filepath.Glob(own)
	folders, foldersErr := featureFolders()
	if err != nil || foldersErr != nil {
		return nil, foldersErr
	}
	for _, folder := range folders {
		found, err := filepath.Glob(filepath.Join(folder, features))
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	return names, nil
}
