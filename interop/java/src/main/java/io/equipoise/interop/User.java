package io.equipoise.interop;

import java.io.Serializable;

/** A plain object. */
public class User implements Serializable {
    private static final long serialVersionUID = 1L;

    private String name;
    private int age;
    private Kind likes;

    public User() {}

    public User(String name, int age, Kind likes) {
        this.name = name;
        this.age = age;
        this.likes = likes;
    }

    public String getName() {
        return name;
    }

    public void setName(String name) {
        this.name = name;
    }

    public int getAge() {
        return age;
    }

    public void setAge(int age) {
        this.age = age;
    }

    public Kind getLikes() {
        return likes;
    }

    public void setLikes(Kind likes) {
        this.likes = likes;
    }
}
